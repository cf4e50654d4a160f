"""PDP: pooling."""
