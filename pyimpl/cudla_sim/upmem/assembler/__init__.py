"""DPU assembly to programs in the vendor's format.

``statements`` reads text, ``expressions`` and ``operands`` its parts, ``sections`` lays them out,
``start`` is the code before ``main``, ``program`` writes the ELF file.
"""
