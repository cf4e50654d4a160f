"""From fused passes to hardware operations with descriptors."""
