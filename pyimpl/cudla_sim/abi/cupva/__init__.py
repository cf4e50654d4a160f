"""``include/cupva/``: the host API of the PVA SDK. The C++ classes are a layer over it."""
