#!/bin/bash
# Starts one of the databases of compose.yaml: with what it has, or with a copy of the one that can be written. The first one makes a new database, if
# no other one answers.
set -euo pipefail
others="host=$HOSTS port=$PORTS user=replicator password=$REPLICATION_PASSWORD application_name=$NAME connect_timeout=3 target_session_attrs=read-write"

# A database that was the primary, and came back after another one was promoted, becomes a standby of it.
if [ -s "$PGDATA/PG_VERSION" ] && [ ! -e "$PGDATA/standby.signal" ] && psql --quiet --command "" "$others dbname=postgres" 2>/dev/null; then
	rm -rf "$PGDATA.before"
	mv "$PGDATA" "$PGDATA.before"
fi
if [ ! -s "$PGDATA/PG_VERSION" ] && { [ "$NAME" != db1 ] || pg_isready --quiet --dbname "$others"; }; then
	until rm -rf "$PGDATA.new" && pg_basebackup --pgdata "$PGDATA.new" --write-recovery-conf --checkpoint fast --dbname "$others"; do
		sleep 2
	done
	mkdir -p "$(dirname "$PGDATA")" && rm -rf "$PGDATA" && mv "$PGDATA.new" "$PGDATA"
fi
exec docker-entrypoint.sh postgres
