"""Names and one-line meanings of error numbers, for cudaGetErrorName and cudaGetErrorString.

The driver numbers its results alike (CUDA Driver API, "Data types": CUresult), so one table of
meanings serves both. Programs print these phrases and compare them, so the short ones are those
that every CUDA program shows; the longer ones are in our words.
"""

from __future__ import annotations

from enum import IntEnum

from ..constants.cudart import cudaError, cudaError_enum

UNRECOGNIZED = "unrecognized error code"

_TEXT = """
0 no error
1 invalid argument
2 out of memory
3 initialization error
4 driver shutting down
5 profiler disabled while using external profiling tool
6 profiler not initialized: call cudaProfilerInitialize()
7 profiler already started
8 profiler already stopped
9 invalid configuration argument
12 invalid pitch argument
13 invalid device symbol
16 invalid host pointer
17 invalid device pointer
18 invalid texture reference
19 texture is not bound to a pointer
20 invalid channel descriptor
21 invalid copy direction for memcpy
22 invalid address of constant
23 fetch from texture failed
24 the texture is not bound
25 incorrect use of __syncthreads()
26 linear filtering not supported for non-float type
27 this normalized read does not go with this format
28 device code was mixed with emulation
31 feature not yet implemented
32 the memory value is too large
34 CUDA driver is a stub library
35 the driver is too old for this runtime
36 this call needs a newer driver
37 invalid surface reference
43 duplicate global variable looked up by string name
44 duplicate texture looked up by string name
45 duplicate surface looked up by string name
46 CUDA-capable device(s) is/are busy or unavailable
49 incompatible driver context
52 __global__ function call is not configured
53 unspecified launch failure in prior launch
65 launch would exceed maximum depth of nested launches
66 a nested launch uses file-scope textures
67 a nested launch uses file-scope surfaces
68 cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth
69 launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount
98 invalid device function
100 no CUDA-capable device is detected
101 invalid device ordinal
102 device doesn't have valid Grid license
103 integrity checks failed
127 startup failure in cuda runtime
200 device kernel image is invalid
201 invalid device context
202 the context is current already
205 mapping of buffer object failed
206 unmapping of buffer object failed
207 array is mapped
208 resource already mapped
209 there is no kernel image for this device
210 resource already acquired
211 resource not mapped
212 resource not mapped as array
213 resource not mapped as pointer
214 uncorrectable ECC error encountered
215 limit is not supported on this architecture
216 the device is used by another thread or process
217 the devices cannot reach each other's memory
218 a PTX JIT compilation failed
219 invalid OpenGL or DirectX context
220 uncorrectable NVLink error detected during the execution
221 PTX JIT compiler library not found
222 this version of PTX is not supported
223 PTX JIT compilation was disabled
224 the provided execution affinity is not supported
225 the provided PTX contains unsupported call to cudaDeviceSynchronize
226 a fault was contained; the process must end
300 device kernel image is invalid
301 file not found
302 shared object symbol not found
303 shared object initialization failed
304 the operating system refused
400 invalid resource handle
401 the object is in the wrong state
402 attempted introspection would be semantically lossy
500 named symbol not found
600 device not ready
700 an illegal memory access was encountered
701 too many resources requested for launch
702 the launch timed out and was terminated
703 launch uses incompatible texturing mode
704 peer access is already enabled
705 peer access has not been enabled
708 the primary context is active already
709 context is destroyed
710 device-side assert triggered
711 peer mapping resources exhausted
712 this host memory is registered already
713 this host memory is not registered
714 hardware stack error
715 an illegal instruction was encountered
716 misaligned address
717 operation not supported on global/shared address space
718 invalid program counter
719 unspecified launch failure
720 too many blocks in cooperative launch
721 tensor memory not completely freed
800 operation not permitted
801 operation not supported
802 system not yet initialized
803 display driver and CUDA driver do not match
804 forward compatibility was attempted on non supported HW
805 the multi-process service could not be reached
806 the multi-process service failed
807 the multi-process service is not ready
808 the multi-process service has too many clients
809 the multi-process service has too many connections
810 the multi-process client was terminated
811 nested launches are not supported here
812 the nested launch runtime has another version
900 operation not permitted when stream is capturing
901 the capture failed earlier and must be ended
902 two captures would merge
903 this stream did not begin the capture
904 capturing stream has unjoined work
905 dependency created on uncaptured work in another stream
906 the legacy stream would depend on a capturing stream
907 the event belongs to a capture
908 another thread began the capture
909 wait operation timed out
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
