"""The commands. ``root`` is ``cudla-sim`` itself; what several folders share lies here."""
