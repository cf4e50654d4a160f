"""One line per call, one line per hardware layer."""

from __future__ import annotations

from ..core.events import Event
from ..core.text import tell


def api(event: Event) -> None:
    """``[thread] name(arguments) -> STATUS  12.3 us  explanation``"""
    if event.kind != "call":
        return
    microseconds = (event.end_ns - event.begin_ns) / 1e3
    details = event.details
    arrow = f" -> {details['status']}" if details["status"] else ""
    why = f"  {details['explanation']}" if details["explanation"] else ""
    tell(f"[{event.track}] {event.name}({details['arguments']}){arrow}  {microseconds:.1f} us{why}")


def layers(event: Event) -> None:
    """``[DLA0] CONV+SDP  1x28x28 -> 20x24x24  int8  macs 288000  saturated 0  0.42 ms``"""
    if event.kind != "layer":
        return
    milliseconds = (event.end_ns - event.begin_ns) / 1e6
    text = "  ".join(v if isinstance(v, str) else f"{k} {v}" for k, v in event.details.items())
    tell(f"[{event.track}] {event.name}  {text}  {milliseconds:.3f} ms")
