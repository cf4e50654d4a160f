"""``cudla-sim dla``: what the DLA of Jetson and DRIVE boards would take."""
