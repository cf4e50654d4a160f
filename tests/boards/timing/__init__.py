"""How long a board's DLA would take."""
