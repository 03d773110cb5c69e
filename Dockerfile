# perf-gate and the Iris client it submits with, each in an environment of its own.
# The digest is what is built on, the tag is for people. To renew it: docker buildx imagetools inspect debian:12-slim
FROM debian:12-slim@sha256:60eac759739651111db372c07be67863818726f754804b8707c90979bda511df

RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git python3 python3-venv \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --no-create-home gate \
 && install -d -o gate -g gate -m 0711 /state

WORKDIR /opt/perf-gate
COPY pyproject.toml constraints.txt README.md ./
COPY demo/iris-constraints.txt demo/
COPY bot bot
RUN python3 -m venv .venv \
 && .venv/bin/pip install --no-cache-dir --constraint constraints.txt '.[postgres]' uv \
 && python3 -m venv .iris \
 && .venv/bin/uv pip install --no-cache --python .iris/bin/python \
      --prerelease if-necessary-or-explicit --requirement demo/iris-constraints.txt \
 && install -D --mode 0755 .venv/bin/uv /opt/tools/bin/uv

# The preflight sees /usr and /opt/tools: commands such as `uv run pytest` need uv there, and Debian's python3.
USER gate
ENV PATH=/opt/perf-gate/.venv/bin:/usr/bin:/bin PERF_GATE_IRIS_COMMAND=/opt/perf-gate/.iris/bin/iris \
    PERF_GATE_SANDBOX_TOOLS=/opt/tools
EXPOSE 8080
CMD ["perf-gate", "serve"]
