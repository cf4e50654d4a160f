"""Memory of activations and the lists of a task."""
