"""Attributes of streams: kept, and told again. Nothing runs otherwise by them."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaAccessProperty as Property
from ...constants.cudart import cudaLaunchAttributeID as Id
from ...constants.cudart import cudaSynchronizationPolicy as Policy
from ...cudart import context
from ...cudart.errors import invalid_value
from ...cudart.streams import Stream
from ..embedding import ffi
from .family import cudart, null
from .streams import resolve

SIZE = 64  # of a cudaLaunchAttributeValue
_KEPT = (
    Id.cudaLaunchAttributeAccessPolicyWindow,
    Id.cudaLaunchAttributeSynchronizationPolicy,
    Id.cudaLaunchAttributePriority,
    Id.cudaLaunchAttributeMemSyncDomainMap,
    Id.cudaLaunchAttributeMemSyncDomain,
)


def _attribute(attribute: int) -> Id:
    if attribute not in _KEPT:
        names = ", ".join(f"{each.name} {int(each)}" for each in _KEPT)
        raise invalid_value(f"attr is {attribute}; streams have {names}")
    return Id(attribute)


def check_window(window: Any) -> None:
    """Raises CudaError (InvalidValue)."""
    size, most = window.num_bytes, context.current().device.number("accessPolicyMaxWindowSize")
    if size > most:
        raise invalid_value(f"accessPolicyWindow.num_bytes is {size}; at most {most}")
    if not 0 <= window.hitRatio <= 1:
        raise invalid_value(f"accessPolicyWindow.hitRatio is {window.hitRatio}; 0 to 1")
    known = Property._value2member_map_
    if window.hitProp not in known or window.missProp not in known:
        raise invalid_value("accessPolicyWindow.hitProp or missProp is no cudaAccessProperty")
    if window.missProp == Property.cudaAccessPropertyPersisting:
        raise invalid_value("accessPolicyWindow.missProp is Persisting; Normal 0 or Streaming 1")


@cudart.export("cudaStreamSetAttribute")
def stream_set_attribute(stream: Any, attribute: int, value: Any) -> None:
    null(value=value)
    found, which = resolve(stream), _attribute(attribute)
    if which == Id.cudaLaunchAttributeAccessPolicyWindow:
        check_window(value.accessPolicyWindow)
    synchronizing = which == Id.cudaLaunchAttributeSynchronizationPolicy
    if synchronizing and value.syncPolicy not in Policy._value2member_map_:
        raise invalid_value(f"syncPolicy is {value.syncPolicy}; cudaSyncPolicy* are 1 to 4")
    if which == Id.cudaLaunchAttributePriority:
        found.priority = found.streams.bounded(value.priority)
    found.attributes[which] = bytes(ffi.buffer(value, SIZE))


def _now(stream: Stream, which: Id) -> bytes:
    value = ffi.new("cudaLaunchAttributeValue *")
    if which == Id.cudaLaunchAttributePriority:
        value.priority = stream.priority
    elif which in stream.attributes:
        return stream.attributes[which]
    elif which == Id.cudaLaunchAttributeSynchronizationPolicy:
        value.syncPolicy = Policy.cudaSyncPolicyAuto
    elif which == Id.cudaLaunchAttributeMemSyncDomainMap:
        value.memSyncDomainMap.remote = 1
    return bytes(ffi.buffer(value, SIZE))


@cudart.export("cudaStreamGetAttribute")
def stream_get_attribute(stream: Any, attribute: int, value: Any) -> None:
    null(value_out=value)
    ffi.memmove(value, _now(resolve(stream), _attribute(attribute)), SIZE)


@cudart.export("cudaStreamCopyAttributes")
def stream_copy_attributes(target: Any, source: Any) -> None:
    given, found = resolve(source), resolve(target)
    if given is found:
        raise invalid_value("dst and src are one stream")
    found.attributes = dict(given.attributes)
    found.priority = given.priority


@cudart.export("cudaCtxResetPersistingL2Cache")
def reset_persisting_l2_cache() -> None:
    return None
