"""User objects: what graphs of the program keep alive."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError
from ...cudart import context
from ...cudart.errors import invalid_value
from ...cudart.user_objects import UserObject
from ..embedding import pointer
from .family import cudart, null, number, required_flags
from .graph_handles import graph_of

USER_OBJECT = "cudaUserObject_t"


def _object(handle: Any) -> UserObject:
    found: UserObject = cudart.resolve(
        handle, USER_OBJECT, "object", cudaError.cudaErrorInvalidValue
    )
    return found


def _count(count: int) -> None:
    if not 0 < count <= 0x7FFFFFFF:
        raise invalid_value(f"count is {count}; 1 to {0x7FFFFFFF}")


@cudart.export("cudaUserObjectCreate")
def user_object_create(target: Any, data: Any, function: Any, count: int, flags: int) -> None:
    null(object_out=target)
    end, argument = number(function), number(data)
    if not end:
        raise invalid_value("destroy is NULL; it is the function to call at the end")
    if flags != 1:
        raise invalid_value(f"flags is {flags:#x}; cudaUserObjectNoDestructorSync 1")
    _count(count)
    current = context.current()

    def over() -> None:
        current.process.handles.remove(made.handle, USER_OBJECT, "its last reference")
        current.calls.host_function(end, argument)

    made = UserObject(count, over)
    made.handle = current.process.handles.add(USER_OBJECT, made)
    target[0] = pointer(made.handle)


@cudart.export("cudaUserObjectRetain")
def user_object_retain(handle: Any, count: int) -> None:
    found = _object(handle)
    _count(count)
    found.retain(count)


@cudart.export("cudaUserObjectRelease", ruined="report")
def user_object_release(handle: Any, count: int) -> None:
    found = _object(handle)
    _count(count)
    found.release(count)


@cudart.export("cudaGraphRetainUserObject")
def graph_retain_user_object(graph: Any, handle: Any, count: int, flags: int) -> None:
    found, wanted = graph_of(graph), _object(handle)
    _count(count)
    required_flags(flags, 1, "0 or cudaGraphUserObjectMove 1")
    if not flags:
        wanted.retain(count)
    elif count > wanted.references:
        raise invalid_value(f"count is {count}; there are {wanted.references} references to move")
    found.objects[wanted] += count


@cudart.export("cudaGraphReleaseUserObject", ruined="report")
def graph_release_user_object(graph: Any, handle: Any, count: int) -> None:
    found, wanted = graph_of(graph), _object(handle)
    _count(count)
    if count > found.objects[wanted]:
        raise invalid_value(f"count is {count}; the graph has {found.objects[wanted]} references")
    found.objects[wanted] -= count
    found.objects += type(found.objects)()  # without those that are 0
    wanted.release(count)
