"""What every simulated stack is made of: memory, handles, fences, queues, events, faults."""
