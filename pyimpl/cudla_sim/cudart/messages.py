"""Names and one-line meanings of error numbers, for cudaGetErrorName and cudaGetErrorString.

The driver numbers its results alike (CUDA Driver API, "Data types": CUresult), so one table of
meanings serves both.
"""

from __future__ import annotations

from enum import IntEnum

from ..constants.cudart import cudaError, cudaError_enum

UNRECOGNIZED = "unrecognized error code"

_TEXT = """
0 no error
1 invalid argument
2 out of memory
3 the runtime or driver is not initialized
4 the runtime or driver is shutting down
5 profiling is disabled
6 the profiler is not initialized
7 the profiler was started already
8 the profiler was stopped already
9 this launch configuration is impossible
12 the pitch is not valid
13 there is no such device symbol
16 the host pointer is not valid
17 the device pointer is not valid
18 the texture is not valid
19 the texture is not bound correctly
20 the channel format is not valid
21 the direction of the copy is not valid
22 the address of a constant was taken
23 a texture could not be fetched
24 the texture is not bound
25 synchronization failed
26 this filter mode does not go with this format
27 this normalized read does not go with this format
28 device code was mixed with emulation
31 this function is not implemented yet
32 the memory value is too large
34 the library is a stub for linking; the real one is missing
35 the driver is too old for this runtime
36 this call needs a newer driver
37 the surface is not valid
43 two variables have the same name
44 two textures have the same name
45 two surfaces have the same name
46 all devices are busy or unavailable
49 the current driver context does not suit the runtime
52 a launch was not configured
53 an earlier launch failed
65 launches are nested too deeply
66 a nested launch uses file-scope textures
67 a nested launch uses file-scope surfaces
68 synchronization is nested too deeply
69 too many nested launches are pending
98 the device function is not valid
100 no CUDA device was found
101 there is no such device
102 the device has no licence
103 the validity of the software was not established
127 the runtime could not start
200 the kernel image is not valid
201 the device context is not valid
202 the context is current already
205 the buffer could not be mapped
206 the buffer could not be unmapped
207 the array is mapped
208 the resource is mapped already
209 there is no kernel image for this device
210 the resource is acquired already
211 the resource is not mapped
212 the resource is not mapped as an array
213 the resource is not mapped as a pointer
214 memory holds an error that could not be corrected
215 the device does not have this limit
216 the device is used by another thread or process
217 the devices cannot reach each other's memory
218 the PTX code could not be compiled
219 the graphics context is not valid
220 a link between devices had an error that could not be corrected
221 the PTX compiler was not found
222 this version of PTX is not supported
223 PTX compilation is switched off
224 this execution affinity is not supported
225 the code synchronizes on the device, which is not supported
226 a fault was contained; the process must end
300 the source is not valid
301 the file was not found
302 a symbol of a shared object was not found
303 a shared object could not be initialized
304 the operating system refused
400 the handle is not valid
401 the object is in the wrong state
402 the answer would lose information
500 the symbol was not found
600 not ready yet
700 an illegal memory address was used
701 the launch needs too many resources
702 the launch took too long
703 the launch uses incompatible texturing
704 peer access is enabled already
705 peer access is not enabled
708 the primary context is active already
709 the context was destroyed
710 a device-side assertion failed
711 peer access is enabled for too many devices
712 this host memory is registered already
713 this host memory is not registered
714 the hardware stack failed
715 an illegal instruction was met
716 an address is not aligned
717 an operation is not allowed in this address space
718 the program counter is not valid
719 a launch failed
720 a cooperative launch is too large
721 tensor memory was not released
800 this operation is not permitted
801 this operation is not supported
802 the system is not ready yet
803 display driver and CUDA driver do not match
804 the compatibility package does not support this device
805 the multi-process service could not be reached
806 the multi-process service failed
807 the multi-process service is not ready
808 the multi-process service has too many clients
809 the multi-process service has too many connections
810 the multi-process client was terminated
811 nested launches are not supported here
812 the nested launch runtime has another version
900 this operation is not permitted while a stream captures
901 the capture failed earlier and must be ended
902 two captures would merge
903 this stream did not begin the capture
904 a stream joined the capture and was not joined back
905 the capture would depend on work outside it
906 the legacy stream would depend on a capturing stream
907 the event belongs to a capture
908 another thread began the capture
909 time ran out
910 the graph could not be updated
911 another engine failed
912 this cluster size is impossible
913 the function is not loaded
914 the resource type is not valid
915 the resource configuration is not valid
916 a key rotation is under way
999 unknown error
10000 base of API failures
"""

_MEANING: dict[int, str] = {}
for _line in _TEXT.strip().splitlines():
    _number, _, _meaning = _line.partition(" ")
    _MEANING[int(_number)] = _meaning


def _known(kind: type[IntEnum], number: int) -> bool:
    return number in kind._value2member_map_


def runtime_name(number: int) -> str:
    """The enumerator's name, ``UNRECOGNIZED`` for a number that is none."""
    return cudaError(number).name if _known(cudaError, number) else UNRECOGNIZED


def runtime_text(number: int) -> str:
    return _MEANING[number] if _known(cudaError, number) else UNRECOGNIZED


def driver_name(number: int) -> str | None:
    return cudaError_enum(number).name if _known(cudaError_enum, number) else None


def driver_text(number: int) -> str | None:
    return _MEANING[number] if _known(cudaError_enum, number) else None
