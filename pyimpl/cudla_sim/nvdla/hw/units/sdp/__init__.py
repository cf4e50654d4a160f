"""SDP: what follows each number."""
