# An image for workspaces of chatd: its agent, and what commands commonly need. Build it from the repository's root:
#   docker build -f docker/workspace.Dockerfile -t chatd-workspace .
# Add what your projects need in an image of your own (FROM chatd-workspace).
FROM python:3.12-slim-bookworm

RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    build-essential ca-certificates curl git jq less openssh-client procps ripgrep unzip \
 && rm -rf /var/lib/apt/lists/*

# chatd has an environment of its own, so that the workspace's Python is the user's alone.
COPY requirements.lock pyproject.toml README.md LICENSE /opt/chatd/
COPY src /opt/chatd/src
RUN python -m venv /opt/chatd/venv \
 && /opt/chatd/venv/bin/pip install --quiet --no-cache-dir --require-hashes -r /opt/chatd/requirements.lock \
 && /opt/chatd/venv/bin/pip install --quiet --no-cache-dir --no-deps --no-build-isolation /opt/chatd \
 && ln -s /opt/chatd/venv/bin/chatd /usr/local/bin/chatd

# The home is a volume: it takes its owner from here.
RUN useradd --create-home --uid 1000 --shell /bin/bash chatd && chmod 0755 /home/chatd
USER 1000:1000
WORKDIR /home/chatd
