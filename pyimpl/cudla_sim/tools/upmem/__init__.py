"""``cudla-sim upmem``, and what the UPMEM SDK has besides its compiler."""
