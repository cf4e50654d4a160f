"""``cudla.h`` and ``cudlaExternalEtbl.hpp``."""
