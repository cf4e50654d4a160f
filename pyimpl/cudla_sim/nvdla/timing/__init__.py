"""How long the hardware would take, without computing results."""
