# pyright: reportMissingImports=false
"""LangChain's standard tests for chat models, against the doors: `ChatOpenAI` with another address, nothing else.

Not part of `make test`: LangChain is installed for `make clients` alone. Its tests with pictures fetch them from the
public internet and are left out; the other suites show some of their own.
"""

import os
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests


class TestChatCompletions(ChatModelIntegrationTests):
    """Through `/v1/chat/completions`."""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return ChatOpenAI

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {
            "model": "aster",
            "base_url": f"{os.environ['ASTER_URL']}/v1",
            "api_key": os.environ["ASTER_KEY"],
            "stream_usage": True,
            "max_retries": 0,
        }

    @property
    def supports_json_mode(self) -> bool:
        return True

    @property
    def has_tool_choice(self) -> bool:
        return True

    @pytest.fixture
    def model(self, request: Any) -> BaseChatModel:
        extra = getattr(request, "param", None) or {}
        return self.chat_model_class(**{**self.standard_chat_model_params, **self.chat_model_params, **extra})


class TestResponses(TestChatCompletions):
    """Through `/v1/responses`."""

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {**super().chat_model_params, "use_responses_api": True}
