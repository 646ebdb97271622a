#!/bin/sh
# Runs once, when the database is made. The engine's role is no superuser: row-level security binds it.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres --dbname postgres <<'SQL'
\getenv password ASTER_PASSWORD
CREATE ROLE aster LOGIN PASSWORD :'password' NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB;
CREATE DATABASE aster OWNER aster;
\connect aster
CREATE EXTENSION IF NOT EXISTS vector;
SQL
