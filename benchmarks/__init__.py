"""Speed, as figures and as ratios against a named reference measured in the same run."""
