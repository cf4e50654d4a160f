"""Look-up tables that a layer depends on; they are in no register group."""

from __future__ import annotations

from ..hw.csb import BlockState


class Tables:
    """The look-up tables and their registers (which exist once, in ``bank``) as they were for a
    layer."""

    def __init__(self, state: BlockState) -> None:
        assert state.lut is not None
        self._state = state
        self.bank = state.single
        self._version = state.lut.version
        self._entries = [list(table) for table in state.lut.tables]
        self._registers = state.single[: state.first]

    def same(self) -> bool:
        """Whether they still are; tables may have been written with what they held."""
        state, lut = self._state, self._state.lut
        assert lut is not None
        if state.single[: state.first] != self._registers:
            return False
        if lut.version != self._version:
            if any(a != b for a, b in zip(lut.tables, self._entries, strict=True)):
                return False
            self._version = lut.version
        return True
