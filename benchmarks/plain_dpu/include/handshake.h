#ifndef PLAIN_HANDSHAKE_H
#define PLAIN_HANDSHAKE_H

void handshake_notify(void);
int handshake_wait_for(unsigned int tasklet);

#endif
