"""What leads from a port inside a cage to the door's socket: programs know HTTP proxies by host and port only.

It runs inside, beside the command and with no more power than it: whoever ends or replaces it has gained nothing.
"""

from __future__ import annotations

PORT = 3128
SOCKET = "/run/perf-gate/packages"
# The port listens before the first process ends, so that the command finds it open.
FORWARDER = rf"""
import asyncio, os, socket
port = socket.create_server(("127.0.0.1", {PORT}))
if os.fork():
    os._exit(0)
os.setsid()
nowhere = os.open("/dev/null", os.O_RDWR)
for descriptor in (0, 1, 2):
    os.dup2(nowhere, descriptor)

async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()

async def lead(reader, writer):
    try:
        inner, outer = await asyncio.open_unix_connection({SOCKET!r})
    except OSError:
        writer.close()
        return
    await asyncio.gather(pump(reader, outer), pump(inner, writer))
    writer.close()
    outer.close()

async def main():
    server = await asyncio.start_server(lead, sock=port)
    await server.serve_forever()

asyncio.run(main())
"""
