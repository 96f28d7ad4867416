"""The optional language model: nothing depends on it, and every call has a time limit."""

import json
from typing import Any

import httpx

from engine.errors import LlmUnavailable, Misconfigured
from engine.settings import Settings


class Llm:
    """Client of a service with OpenAI's chat API. Belongs to the event loop that uses it."""

    def __init__(self, settings: Settings) -> None:
        if not settings.llm_url or not settings.llm_model:
            raise Misconfigured("Set PENTIMENTO_LLM_URL and PENTIMENTO_LLM_MODEL to use an LLM.")
        key = settings.llm_api_key.get_secret_value()
        self._model = settings.llm_model
        self._client = httpx.AsyncClient(
            base_url=settings.llm_url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=settings.llm_seconds,
        )

    async def ask(self, instruction: str, user_message: str) -> Any:
        """The model's answer, parsed as JSON."""
        try:
            response = await self._client.post(
                "chat/completions",
                json={
                    "model": self._model,
                    "temperature": 0,
                    "response_format": {"type": "json_object"},
                    "messages": [
                        {"role": "system", "content": instruction},
                        {"role": "user", "content": user_message},
                    ],
                },
            )
            response.raise_for_status()
            return json.loads(response.json()["choices"][0]["message"]["content"])
        except httpx.HTTPStatusError as error:
            raise LlmUnavailable(f"it answered {error.response.status_code}") from error
        except httpx.HTTPError as error:
            raise LlmUnavailable(type(error).__name__) from error
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise LlmUnavailable("its answer is not JSON in a chat completion") from error
