# Runs once, in the first database, before it listens: roles, the database of Kioku, and who must have a note before it is acknowledged.
psql --set ON_ERROR_STOP=1 --username postgres --set replication="$REPLICATION_PASSWORD" --set node="$NODE_PASSWORD" <<'SQL'
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'replication';
CREATE ROLE kioku_node LOGIN PASSWORD :'node';
GRANT pg_read_all_stats TO kioku_node; -- for kioku cluster doctor
CREATE DATABASE kioku OWNER kioku_node;
ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (db1, db2, db3)';
ALTER SYSTEM SET wal_keep_size = '1GB';
SQL
echo "host replication replicator all scram-sha-256" >>"$PGDATA/pg_hba.conf"
