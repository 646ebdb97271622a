"""The settings about what lies outside the engine: addresses, search engines, networks of commands, MCP servers."""

from pydantic import BaseModel, Field, SecretStr

from aster.infra.settings_flag import Flag


class ReachSettings(BaseModel):
    """What can be reached, and by whom."""

    fetch_allowed_private: str = Field(
        "",
        description="Inner addresses that may be reached after all: hosts, IP addresses or networks (10.1.0.0/16),"
        " comma-separated. Everything else that is not on the public internet is refused.",
    )
    fetch_allowed_hosts: str = Field(
        "", description="Hosts `web_fetch` may fetch from (`*.example.com`), comma-separated; empty is any."
    )
    fetch_blocked_hosts: str = Field(
        "", description="Hosts that are never reached, by `web_fetch` or by commands, comma-separated."
    )
    brave_api_key: SecretStr | None = Field(
        None, description="The key for Brave Search, asked first by `web_search`."
    )
    brave_base_url: str = Field("https://api.search.brave.com", description="Another address for Brave Search.")
    tavily_api_key: SecretStr | None = Field(
        None, description="The key for Tavily, asked by `web_search` when Brave has no key or fails."
    )
    tavily_base_url: str = Field("https://api.tavily.com", description="Another address for Tavily.")
    egress_allow: str = Field(
        "",
        description="Hosts that sandboxed commands may reach (`pypi.org`, `*.example.com`, `10.0.0.5:8080`),"
        " comma-separated, on ports 80 and 443 unless one is given; empty is no network.",
    )
    egress_secrets: SecretStr | None = Field(
        None,
        description="Headers the engine adds to commands' requests, never seen by the command: JSON or a file with"
        " it, host to header to value, where `${NAME}` is an environment variable.",
    )

    ad_encryption_key: SecretStr | None = Field(
        None,
        description="The Fernet key for the credentials of connected servers, or several with commas, newest first;"
        " unset is a key of the engine's own in a file beside the brain. Without it they cannot be opened again.",
    )
    oauth_redirect_base_url: str = Field(
        "",
        description="The address under which browsers reach this engine (`https://aster.example.com`); logins to"
        " connected servers come back there. Unset is this machine, if the engine listens there alone.",
    )
    oauth_client_metadata_url: str = Field(
        "",
        description="Where authorization servers find the document that describes this engine as a client, if it is"
        " published elsewhere than at the engine itself (`/assets/oauth/client.json`).",
    )
    oauth_login_seconds: int = Field(
        900, ge=30, le=86_400, description="How long the link of a login to a connected server can be used."
    )
    mcp_user_servers: Flag = Field(
        False,
        description="Whether users may connect MCP servers of their own, over HTTP on the public internet; otherwise"
        " only those of CATALOG_DIR/mcp.",
    )
    mcp_tools_tokens: int = Field(
        4000,
        ge=0,
        description="How many tokens the tools of connected servers may take in a prompt; if they need more, models"
        " look for them with `find_tools` and call them with `call_tool`.",
    )
    mcp_idle_seconds: float = Field(
        600.0,
        gt=0,
        description="After how long without a call a connected server's session is ended until the next.",
    )
