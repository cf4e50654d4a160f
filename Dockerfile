# The two stages are the README's two commands: make run, make test.
FROM debian:12-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
    gcc g++ make clang cmake pkg-config python3 python3-venv python3-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/cudla-sim
COPY . .
ENV PATH=/opt/cudla-sim/.venv/bin:$PATH

FROM build AS test
RUN make test

FROM build AS run
RUN make run
