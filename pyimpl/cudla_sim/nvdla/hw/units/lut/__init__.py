"""What the look-up tables of SDP and CDP have in common."""
