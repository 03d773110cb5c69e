# perf-gate and the Iris client it submits with, each in an environment of its own.
FROM debian:12-slim

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
      --prerelease if-necessary-or-explicit --requirement demo/iris-constraints.txt

USER gate
ENV PATH=/opt/perf-gate/.venv/bin:/usr/bin:/bin PERF_GATE_IRIS_COMMAND=/opt/perf-gate/.iris/bin/iris
EXPOSE 8080
CMD ["perf-gate", "serve"]
