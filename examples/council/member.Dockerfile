# A member of a council: Kioku and Claude Code. Both images exist for x86-64 and ARM64.
FROM kioku:dev AS kioku
FROM node:24-bookworm-slim
ARG CLAUDE_CODE=2.1.197
RUN npm install --global @anthropic-ai/claude-code@${CLAUDE_CODE} && npm cache clean --force
COPY --from=kioku /usr/local/bin/kioku /usr/local/bin/kioku
ENV KIOKU_STATE=/tmp/state
USER node
ENTRYPOINT ["/usr/local/bin/kioku"]
