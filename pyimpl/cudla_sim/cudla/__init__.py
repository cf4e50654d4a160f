"""cuDLA: devices, modules, registered memory and semaphores, tasks."""
