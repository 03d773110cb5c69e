"""Buckets and the objects in them, as workflows (and whoever else may write there) leave them."""

from __future__ import annotations

from simulator.state import StoredObject
from simulator.verbs.parts import Parts


class StorageVerbs(Parts):
    def create_bucket(self, name: str) -> None:
        self.world.buckets.setdefault(name, {})

    def put_object(
        self,
        bucket: str,
        name: str,
        content: bytes | str,
        *,
        content_type: str = "application/json",
        content_encoding: str | None = None,
    ) -> None:
        """Write or overwrite; the bucket is made where there is none."""
        self.create_bucket(bucket)
        self.world.buckets[bucket][name] = StoredObject(
            content.encode() if isinstance(content, str) else content,
            content_type,
            content_encoding,
            self.world.next_id(),
            self.world.clock.now(),
        )

    def delete_object(self, bucket: str, name: str) -> None:
        """Raises LookupError."""
        if name not in self.world.buckets.get(bucket, {}):
            raise LookupError(f"there is no object {name} in {bucket}")
        del self.world.buckets[bucket][name]
