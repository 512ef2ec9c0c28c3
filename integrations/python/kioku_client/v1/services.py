"""The calls of the services, with types. Made by generate.py; do not edit."""
from __future__ import annotations

from typing import Iterator, Optional

from kioku_client._calls import Calls
from kioku_client.v1 import agent_pb2, memory_pb2, unit_pb2


class MemoryService:
    """The calls of kioku.v1.MemoryService; proto/kioku/v1/memory.proto documents them."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def MemorySearch(self, request: memory_pb2.MemorySearchRequest, timeout: Optional[float] = None) -> memory_pb2.MemorySearchResponse:
        """Calls kioku.v1.MemoryService/MemorySearch."""
        return self._calls.unary("/kioku.v1.MemoryService/MemorySearch", request, memory_pb2.MemorySearchResponse, timeout)

    def MemoryGet(self, request: memory_pb2.MemoryGetRequest, timeout: Optional[float] = None) -> memory_pb2.MemoryGetResponse:
        """Calls kioku.v1.MemoryService/MemoryGet."""
        return self._calls.unary("/kioku.v1.MemoryService/MemoryGet", request, memory_pb2.MemoryGetResponse, timeout)

    def MemoryAppend(self, request: memory_pb2.MemoryAppendRequest, timeout: Optional[float] = None) -> memory_pb2.MemoryAppendResponse:
        """Calls kioku.v1.MemoryService/MemoryAppend."""
        return self._calls.unary("/kioku.v1.MemoryService/MemoryAppend", request, memory_pb2.MemoryAppendResponse, timeout)

    def MemoryUpdate(self, request: memory_pb2.MemoryUpdateRequest, timeout: Optional[float] = None) -> memory_pb2.MemoryUpdateResponse:
        """Calls kioku.v1.MemoryService/MemoryUpdate."""
        return self._calls.unary("/kioku.v1.MemoryService/MemoryUpdate", request, memory_pb2.MemoryUpdateResponse, timeout)

    def MemoryUndo(self, request: memory_pb2.MemoryUndoRequest, timeout: Optional[float] = None) -> memory_pb2.MemoryUndoResponse:
        """Calls kioku.v1.MemoryService/MemoryUndo."""
        return self._calls.unary("/kioku.v1.MemoryService/MemoryUndo", request, memory_pb2.MemoryUndoResponse, timeout)

    def ListRevisions(self, request: memory_pb2.ListRevisionsRequest, timeout: Optional[float] = None) -> memory_pb2.ListRevisionsResponse:
        """Calls kioku.v1.MemoryService/ListRevisions."""
        return self._calls.unary("/kioku.v1.MemoryService/ListRevisions", request, memory_pb2.ListRevisionsResponse, timeout)

    def ListFiles(self, request: memory_pb2.ListFilesRequest, timeout: Optional[float] = None) -> memory_pb2.ListFilesResponse:
        """Calls kioku.v1.MemoryService/ListFiles."""
        return self._calls.unary("/kioku.v1.MemoryService/ListFiles", request, memory_pb2.ListFilesResponse, timeout)

    def ListLinks(self, request: memory_pb2.ListLinksRequest, timeout: Optional[float] = None) -> memory_pb2.ListLinksResponse:
        """Calls kioku.v1.MemoryService/ListLinks."""
        return self._calls.unary("/kioku.v1.MemoryService/ListLinks", request, memory_pb2.ListLinksResponse, timeout)

    def ListChunks(self, request: memory_pb2.ListChunksRequest, timeout: Optional[float] = None) -> memory_pb2.ListChunksResponse:
        """Calls kioku.v1.MemoryService/ListChunks."""
        return self._calls.unary("/kioku.v1.MemoryService/ListChunks", request, memory_pb2.ListChunksResponse, timeout)

    def MemoryMap(self, request: memory_pb2.MemoryMapRequest, timeout: Optional[float] = None) -> memory_pb2.MemoryMapResponse:
        """Calls kioku.v1.MemoryService/MemoryMap."""
        return self._calls.unary("/kioku.v1.MemoryService/MemoryMap", request, memory_pb2.MemoryMapResponse, timeout)

    def Activity(self, request: memory_pb2.ActivityRequest, timeout: Optional[float] = None) -> memory_pb2.ActivityResponse:
        """Calls kioku.v1.MemoryService/Activity."""
        return self._calls.unary("/kioku.v1.MemoryService/Activity", request, memory_pb2.ActivityResponse, timeout)

    def Explain(self, request: memory_pb2.ExplainRequest, timeout: Optional[float] = None) -> memory_pb2.ExplainResponse:
        """Calls kioku.v1.MemoryService/Explain."""
        return self._calls.unary("/kioku.v1.MemoryService/Explain", request, memory_pb2.ExplainResponse, timeout)

    def Status(self, request: memory_pb2.StatusRequest, timeout: Optional[float] = None) -> memory_pb2.StatusResponse:
        """Calls kioku.v1.MemoryService/Status."""
        return self._calls.unary("/kioku.v1.MemoryService/Status", request, memory_pb2.StatusResponse, timeout)

    def EstimateEmbedding(self, request: memory_pb2.EstimateEmbeddingRequest, timeout: Optional[float] = None) -> memory_pb2.EstimateEmbeddingResponse:
        """Calls kioku.v1.MemoryService/EstimateEmbedding."""
        return self._calls.unary("/kioku.v1.MemoryService/EstimateEmbedding", request, memory_pb2.EstimateEmbeddingResponse, timeout)

    def Sync(self, request: memory_pb2.SyncRequest, timeout: Optional[float] = None) -> Iterator[memory_pb2.SyncResponse]:
        """Calls kioku.v1.MemoryService/Sync."""
        return self._calls.stream("/kioku.v1.MemoryService/Sync", request, memory_pb2.SyncResponse, timeout)

    def Rebuild(self, request: memory_pb2.RebuildRequest, timeout: Optional[float] = None) -> Iterator[memory_pb2.RebuildResponse]:
        """Calls kioku.v1.MemoryService/Rebuild."""
        return self._calls.stream("/kioku.v1.MemoryService/Rebuild", request, memory_pb2.RebuildResponse, timeout)

    def WatchEvents(self, request: memory_pb2.WatchEventsRequest, timeout: Optional[float] = None) -> Iterator[memory_pb2.WatchEventsResponse]:
        """Calls kioku.v1.MemoryService/WatchEvents."""
        return self._calls.stream("/kioku.v1.MemoryService/WatchEvents", request, memory_pb2.WatchEventsResponse, timeout)

    def ListAgents(self, request: memory_pb2.ListAgentsRequest, timeout: Optional[float] = None) -> memory_pb2.ListAgentsResponse:
        """Calls kioku.v1.MemoryService/ListAgents."""
        return self._calls.unary("/kioku.v1.MemoryService/ListAgents", request, memory_pb2.ListAgentsResponse, timeout)


class AgentService:
    """The calls of kioku.v1.AgentService; proto/kioku/v1/agent.proto documents them."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def AssemblePrompt(self, request: agent_pb2.AssemblePromptRequest, timeout: Optional[float] = None) -> agent_pb2.AssemblePromptResponse:
        """Calls kioku.v1.AgentService/AssemblePrompt."""
        return self._calls.unary("/kioku.v1.AgentService/AssemblePrompt", request, agent_pb2.AssemblePromptResponse, timeout)

    def Recall(self, request: agent_pb2.RecallRequest, timeout: Optional[float] = None) -> agent_pb2.RecallResponse:
        """Calls kioku.v1.AgentService/Recall."""
        return self._calls.unary("/kioku.v1.AgentService/Recall", request, agent_pb2.RecallResponse, timeout)

    def Prune(self, request: agent_pb2.PruneRequest, timeout: Optional[float] = None) -> agent_pb2.PruneResponse:
        """Calls kioku.v1.AgentService/Prune."""
        return self._calls.unary("/kioku.v1.AgentService/Prune", request, agent_pb2.PruneResponse, timeout)

    def CheckFlush(self, request: agent_pb2.CheckFlushRequest, timeout: Optional[float] = None) -> agent_pb2.CheckFlushResponse:
        """Calls kioku.v1.AgentService/CheckFlush."""
        return self._calls.unary("/kioku.v1.AgentService/CheckFlush", request, agent_pb2.CheckFlushResponse, timeout)

    def BeginFlush(self, request: agent_pb2.BeginFlushRequest, timeout: Optional[float] = None) -> agent_pb2.BeginFlushResponse:
        """Calls kioku.v1.AgentService/BeginFlush."""
        return self._calls.unary("/kioku.v1.AgentService/BeginFlush", request, agent_pb2.BeginFlushResponse, timeout)

    def CommitFlush(self, request: agent_pb2.CommitFlushRequest, timeout: Optional[float] = None) -> agent_pb2.CommitFlushResponse:
        """Calls kioku.v1.AgentService/CommitFlush."""
        return self._calls.unary("/kioku.v1.AgentService/CommitFlush", request, agent_pb2.CommitFlushResponse, timeout)

    def Flush(self, request: agent_pb2.FlushRequest, timeout: Optional[float] = None) -> agent_pb2.FlushResponse:
        """Calls kioku.v1.AgentService/Flush."""
        return self._calls.unary("/kioku.v1.AgentService/Flush", request, agent_pb2.FlushResponse, timeout)

    def Compact(self, request: agent_pb2.CompactRequest, timeout: Optional[float] = None) -> agent_pb2.CompactResponse:
        """Calls kioku.v1.AgentService/Compact."""
        return self._calls.unary("/kioku.v1.AgentService/Compact", request, agent_pb2.CompactResponse, timeout)

    def EndSession(self, request: agent_pb2.EndSessionRequest, timeout: Optional[float] = None) -> agent_pb2.EndSessionResponse:
        """Calls kioku.v1.AgentService/EndSession."""
        return self._calls.unary("/kioku.v1.AgentService/EndSession", request, agent_pb2.EndSessionResponse, timeout)

    def BeginCompact(self, request: agent_pb2.BeginCompactRequest, timeout: Optional[float] = None) -> agent_pb2.BeginCompactResponse:
        """Calls kioku.v1.AgentService/BeginCompact."""
        return self._calls.unary("/kioku.v1.AgentService/BeginCompact", request, agent_pb2.BeginCompactResponse, timeout)

    def CommitCompact(self, request: agent_pb2.CommitCompactRequest, timeout: Optional[float] = None) -> agent_pb2.CommitCompactResponse:
        """Calls kioku.v1.AgentService/CommitCompact."""
        return self._calls.unary("/kioku.v1.AgentService/CommitCompact", request, agent_pb2.CommitCompactResponse, timeout)

    def ListTools(self, request: agent_pb2.ListToolsRequest, timeout: Optional[float] = None) -> agent_pb2.ListToolsResponse:
        """Calls kioku.v1.AgentService/ListTools."""
        return self._calls.unary("/kioku.v1.AgentService/ListTools", request, agent_pb2.ListToolsResponse, timeout)

    def CallTool(self, request: agent_pb2.CallToolRequest, timeout: Optional[float] = None) -> agent_pb2.CallToolResponse:
        """Calls kioku.v1.AgentService/CallTool."""
        return self._calls.unary("/kioku.v1.AgentService/CallTool", request, agent_pb2.CallToolResponse, timeout)

    def ListTurns(self, request: agent_pb2.ListTurnsRequest, timeout: Optional[float] = None) -> agent_pb2.ListTurnsResponse:
        """Calls kioku.v1.AgentService/ListTurns."""
        return self._calls.unary("/kioku.v1.AgentService/ListTurns", request, agent_pb2.ListTurnsResponse, timeout)
