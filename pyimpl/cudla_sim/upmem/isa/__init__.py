"""The instruction set of UPMEM's DPU v1A: one table, and what reads and writes words by it.

``table.FORMS`` is the only place that says how instructions are encoded. The disassembler, the
assembler and the interpreter (through the generated ``shim/generated/dpu_isa.h``) go by it.
"""
