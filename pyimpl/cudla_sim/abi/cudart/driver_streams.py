"""Streams, their capture and graphs as a whole by the driver's names: the runtime's."""

from __future__ import annotations

from typing import Any

from ..embedding import pointer
from . import events, graph_nodes, graphs, launch_attributes, memory, streams
from .driver import (
    context_of,
    driver,
    null,
    require_context_of,
    require_current,
)

# Those that differ by nothing but their names.
driver.export("cuStreamGetPriority")(streams.stream_get_priority)
driver.export("cuStreamGetId")(streams.stream_get_id)
driver.export("cuStreamGetFlags")(streams.stream_get_flags)
driver.export("cuStreamGetDevice")(streams.stream_get_device)
driver.export("cuStreamAddCallback")(streams.stream_add_callback)
driver.export("cuLaunchHostFunc")(streams.launch_host_func)
driver.export("cuLaunchHostFunc_v2")(streams.launch_host_func_v2)
driver.export("cuEventRecordWithFlags")(events.event_record_with_flags)
driver.export("cuStreamBeginCapture_v2")(streams.stream_begin_capture)
driver.export("cuStreamEndCapture")(streams.stream_end_capture)
driver.export("cuStreamIsCapturing")(streams.stream_is_capturing)
driver.export("cuThreadExchangeStreamCaptureMode")(streams.thread_exchange_stream_capture_mode)
driver.export("cuStreamBeginCaptureToGraph")(streams.stream_begin_capture_to_graph)
driver.export("cuStreamUpdateCaptureDependencies")(streams.stream_update_capture_dependencies)
driver.export("cuStreamUpdateCaptureDependencies_v2")(streams.stream_update_capture_dependencies_v2)
driver.export("cuStreamSetAttribute")(launch_attributes.stream_set_attribute)
driver.export("cuStreamGetAttribute")(launch_attributes.stream_get_attribute)
driver.export("cuStreamCopyAttributes")(launch_attributes.stream_copy_attributes)
driver.export("cuStreamGetCaptureInfo_v2")(streams.stream_get_capture_info_v2)
driver.export("cuStreamGetCaptureInfo_v3")(streams.stream_get_capture_info_v3)
driver.export("cuGraphCreate")(graphs.graph_create)
driver.export("cuGraphClone")(graphs.graph_clone)
driver.export("cuGraphDestroy")(graphs.graph_destroy)
driver.export("cuGraphAddEmptyNode")(graph_nodes.add_empty_node)
driver.export("cuGraphAddChildGraphNode")(graph_nodes.add_child_graph_node)
driver.export("cuGraphGetNodes")(graphs.get_nodes)
driver.export("cuGraphGetRootNodes")(graphs.get_root_nodes)
driver.export("cuGraphNodeGetType")(graphs.node_get_type)
driver.export("cuGraphDestroyNode")(graphs.destroy_node)
driver.export("cuGraphInstantiateWithFlags")(graphs.graph_instantiate)
driver.export("cuGraphUpload")(graphs.graph_upload)
driver.export("cuGraphLaunch")(graphs.graph_launch)
driver.export("cuGraphExecDestroy")(graphs.graph_exec_destroy)


@driver.export("cuStreamGetCtx")
def stream_get_ctx(stream: Any, target: Any) -> None:
    null(pctx=target)
    require_context_of(stream)
    target[0] = pointer(context_of(streams.resolve(stream)))


@driver.export("cuStreamAttachMemAsync")
def stream_attach_mem_async(stream: Any, address: int, size: int, flags: int) -> None:
    require_current()
    memory.stream_attach_mem_async(stream, pointer(address), size, flags)
