"""What the attribute lists of NvSciBuf and NvSciSync have in common at the C boundary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...constants import nvsci_parameters
from ...constants.nvsci import NvSciError as Status
from ...core import process
from ...nvsci.attributes import AttrList, Schema, Slot, append
from ...nvsci.errors import NvSciError, bad_parameter
from ...nvsci.settings import Settings
from ..checked import CheckedFamily
from ..embedding import address, ffi, lib, pointer

MAX_LISTS = 1024  # far above any real program; a garbage count must not be a long walk

nvsci = CheckedFamily(
    "nvsci",
    Status,
    nvsci_parameters,
    error=NvSciError,
    bad_pointer=Status.NvSciError_BadParameter,
    but=("NvSciSyncFenceWait",),  # which looks for itself
)


def null(to: str = "memory for the result", /, **pointers: Any) -> None:
    """Raises NvSciError (BadParameter) for the first NULL among the named pointers ``to`` that."""
    nvsci.require(Status.NvSciError_BadParameter, to, **pointers)


def serves(version: tuple[int, int], major: int, minor: int) -> bool:
    """Whether a library of ``version`` serves a program that was built against another one."""
    return major == version[0] and minor <= version[1]


class ListApi:
    """The list functions of one library; ``key_field`` names the key in its pairs."""

    def __init__(
        self,
        prefix: str,
        schema: Schema,
        key_field: str,
        reconcile: Callable[[list[AttrList]], AttrList],
        validate: Callable[[AttrList, list[Slot]], str],
        version: tuple[int, int],
        module: type,
    ) -> None:
        self.version = version
        self._module = module
        self.prefix = prefix
        self.schema = schema
        self._reconcile = reconcile
        self._validate = validate
        self.kind = f"{prefix}AttrList"
        self.module_kind = f"{prefix}Module"
        self._key_field = key_field

    def module(self, handle: Any) -> Any:
        return nvsci.resolve(handle, self.module_kind, "module")

    def resolve(self, handle: Any, argument: str = "attrList") -> AttrList:
        found: AttrList = nvsci.resolve(handle, self.kind, argument)
        return found

    def issue(self, attributes: AttrList) -> Any:
        return pointer(process.current().handles.add(self.kind, attributes))

    def lists(self, array: Any, count: int, argument: str) -> list[AttrList]:
        """The lists of a C array. Raises NvSciError (BadParameter)."""
        if not array:
            raise bad_parameter(f"{argument} is NULL; it points to attribute lists")
        if not 0 < count <= MAX_LISTS:
            raise bad_parameter(f"{argument}: the count is {count}; it is 1 to {MAX_LISTS}")
        found = [self.resolve(array[i], f"{argument}[{i}]") for i in range(count)]
        if self.schema.lists_once:
            first: dict[int, int] = {}
            for index, each in enumerate(found):
                earlier = first.setdefault(id(each), index)
                if earlier != index:
                    raise bad_parameter(
                        f"{argument} holds one list twice, at {earlier} and {index}"
                    )
        return found

    def create(self, module: Any, new_list: Any) -> None:
        null(newAttrList=new_list)
        new_list[0] = self.issue(AttrList(self.schema, self.module(module)))

    def free(self, handle: Any) -> None:
        """Frees a list; one that an object owns is left alone, as is NULL."""
        if not handle:
            return
        attributes = self.resolve(handle)
        # The list that the object was made from is another handle of the same list.
        if attributes.owned is not None and address(attributes.owned) == address(handle):
            raise bad_parameter(
                "attrList belongs to its object (from ObjGetAttrList); do not free it"
            )
        process.current().handles.remove(
            int(ffi.cast("uintptr_t", handle)), self.kind, "AttrListFree"
        )

    def pairs(self, pairs: Any, count: int) -> list[tuple[int, bytes | None]]:
        """Key and value bytes of each pair; None for a NULL value."""
        null("keys and values", pairArray=pairs)
        if not 0 < count <= len(self.schema.keys):
            raise bad_parameter(f"pairCount is {count}; it is 1 to {len(self.schema.keys)}")
        found: list[tuple[int, bytes | None]] = []
        for index in range(count):
            pair = pairs[index]
            number = int(getattr(pair, self._key_field))
            key = self.schema.key(number)
            if not pair.value:
                found.append((number, None))
                continue
            if pair.len > 256 * key.element_size:
                raise bad_parameter(f"{key.name}: len is {pair.len}; that is far too long")
            found.append((number, bytes(ffi.buffer(pair.value, pair.len))))
        return found

    def check_version(self, major: int, minor: int, compatible: Any) -> None:
        self.check(serves(self.version, major, minor), isCompatible=compatible)

    def get_first_attrs(self, handle: Any, pairs: Any, count: int) -> None:
        self.get_attrs(handle, 0, pairs, count)

    def is_reconciled(self, handle: Any, answer: Any) -> None:
        self.check(self.resolve(handle).reconciled, isReconciled=answer)

    def slot_count(self, handle: Any) -> int:
        return len(self.resolve(handle).slots)

    def open(self, new_module: Any) -> None:
        null(newModule=new_module)
        current = process.current()
        if not current.config.of(Settings).nvsci:
            raise NvSciError(
                Status.NvSciError_NotInitialized, "NvSci is missing here (setting nvsci is off)"
            )
        new_module[0] = pointer(current.handles.add(self.module_kind, self._module()))

    def close(self, module: Any) -> None:
        if module:
            self.module(module)
            handles = process.current().handles
            handles.remove(address(module), self.module_kind, self.prefix + "ModuleClose")

    @staticmethod
    def check(answer: bool, **out: Any) -> None:
        """Answers a question through the one named pointer."""
        null(**out)
        for target in out.values():
            target[0] = answer

    def merge(self, array: Any, count: int, conflict_list: Any) -> Any:
        """Reconciles the lists of a C array; ``conflict_list`` gets NULL, or the culprits.

        Programs leave that variable uninitialised and free it afterwards, so it is always written.
        """
        null(newConflictList=conflict_list)
        conflict_list[0] = ffi.NULL
        try:
            return self._reconcile(self.lists(array, count, "inputArray"))
        except NvSciError as error:
            culprits = getattr(error, "culprits", None)
            if culprits is not None:
                conflict_list[0] = self.issue(culprits)
            raise

    def reconcile(self, array: Any, count: int, new_list: Any, conflict_list: Any) -> None:
        null(newReconciledList=new_list)
        new_list[0] = self.issue(self.merge(array, count, conflict_list))

    def validate(self, reconciled: Any, array: Any, count: int, answer: Any) -> None:
        outcome = self.reconciled(reconciled)
        null(isReconciledListValid=answer)
        answer[0] = False
        self.require(outcome, self.slots_of(array, count, "inputUnreconciledAttrListArray"))
        answer[0] = True

    def require(self, outcome: AttrList, wishes: list[Slot]) -> None:
        """Raises NvSciError (AttrListValidationFailed) for a wish that is not met."""
        if wrong := self._validate(outcome, wishes):
            raise NvSciError(Status.NvSciError_AttrListValidationFailed, wrong)

    def own_list(self, attributes: AttrList, answer: Any, **out: Any) -> None:
        """Answers an object's own list, which C must not free."""
        null(**out)
        if attributes.owned is None:
            attributes.owned = self.issue(attributes)
        answer[0] = attributes.owned

    def set_attrs(self, handle: Any, pairs: Any, count: int) -> None:
        self.resolve(handle).set_attrs(self.pairs(pairs, count))

    def lend(self, attributes: AttrList, number: int, slot: int) -> tuple[Any, int]:
        """Address and length of a value, in memory that lives as long as the list."""
        raw = attributes.get(number, slot)
        if not raw:
            return ffi.NULL, 0
        # A value that a clone sets anew gets other memory: C may still look at the old one.
        lent = attributes.lent
        if (number, raw) not in lent:
            # 8 bytes more than needed keep the alignment of every value type.
            lent[number, raw] = ffi.new("uint64_t[]", len(raw) // 8 + 1)
            ffi.memmove(lent[number, raw], raw, len(raw))
        return ffi.cast("const void *", lent[number, raw]), len(raw)

    def get_attrs(self, handle: Any, slot: int, pairs: Any, count: int) -> None:
        attributes = self.resolve(handle)
        null("keys and values", pairArray=pairs)
        if not 0 < count <= MAX_LISTS:
            raise bad_parameter(f"pairCount is {count}; it is 1 to {MAX_LISTS}")
        if not 0 <= slot < len(attributes.slots):
            raise bad_parameter(f"slotIndex is {slot}; attrList has {len(attributes.slots)} slots")
        numbers = [int(getattr(pairs[index], self._key_field)) for index in range(count)]
        for index, lent in enumerate([self.lend(attributes, n, slot) for n in numbers]):
            pairs[index].value, pairs[index].len = lent

    def dump(self, handle: Any, buffer: Any, length: Any) -> None:
        """The list as text in memory from malloc, which C releases with free()."""
        text = self.resolve(handle).dump().encode() + b"\0"
        null(buf=buffer, len=length)
        memory = lib.malloc(len(text))
        if not memory:
            raise MemoryError("malloc failed")
        ffi.memmove(memory, text, len(text))
        buffer[0] = memory
        length[0] = len(text)

    def clone(self, handle: Any, new_list: Any) -> None:
        original = self.resolve(handle, "origAttrList")
        null(newAttrList=new_list)
        new_list[0] = self.issue(original.clone())

    def append(self, array: Any, count: int, new_list: Any) -> None:
        joined = append(self.lists(array, count, "inputUnreconciledAttrListArray"))
        null(newUnreconciledAttrList=new_list)
        new_list[0] = self.issue(joined)

    def reconciled(self, handle: Any, argument: str = "reconciledAttrList") -> AttrList:
        attributes = self.resolve(handle, argument)
        if not attributes.reconciled:
            raise bad_parameter(f"{argument} is not reconciled")
        return attributes

    def slots_of(self, array: Any, count: int, argument: str) -> list[Slot]:
        lists = self.lists(array, count, argument)
        for index, each in enumerate(lists):
            if each.reconciled:
                raise bad_parameter(
                    f"{argument}[{index}] is reconciled; it takes unreconciled ones"
                )
        return [slot for each in lists for slot in each.slots]
