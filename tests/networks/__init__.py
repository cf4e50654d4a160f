"""Networks as users bring them, exported from torch with seeded weights (`make test-networks`)."""
