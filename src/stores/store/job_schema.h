#pragma once

#include <array>
#include <string_view>

/// The tables of DATA/trainyard.db, version by version.
namespace trainyard::store {

// Rowid tables: new rows go to the end whatever the job, so a group touches few pages. The record comes last
// in its row, so that reading the other columns never follows its overflow pages. AUTOINCREMENT: a uid is
// never reused.
inline constexpr std::array<std::string_view, 4> kJobMigrations = {R"sql(
CREATE TABLE jobs(
  uid INTEGER PRIMARY KEY AUTOINCREMENT,
  project TEXT NOT NULL,
  job_id TEXT NOT NULL,
  create_time INTEGER NOT NULL,  -- Unix time in ns
  end_time INTEGER,              -- NULL while somebody has to look after the job
  state INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  tuning_uid INTEGER REFERENCES jobs(uid),  -- of a trial, whose job_id is JOB/TRIAL: lists pass it over
  record BLOB NOT NULL,
  UNIQUE(project, job_id)) STRICT;
CREATE INDEX jobs_newest ON jobs(project, uid) WHERE tuning_uid IS NULL;
CREATE INDEX jobs_trials ON jobs(tuning_uid, uid) WHERE tuning_uid IS NOT NULL;
CREATE INDEX jobs_unfinished ON jobs(uid) WHERE end_time IS NULL;
CREATE TABLE events(
  uid INTEGER NOT NULL REFERENCES jobs(uid),
  seq INTEGER NOT NULL,
  event BLOB NOT NULL,
  PRIMARY KEY(uid, seq)) STRICT;
CREATE TABLE page_token_key(value BLOB NOT NULL) STRICT;
INSERT INTO page_token_key VALUES(randomblob(16));
)sql",
                                                                   R"sql(
CREATE TABLE removed_jobs(
  uid INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  job_id TEXT NOT NULL,         -- stays taken
  pending INTEGER NOT NULL,     -- 1: something of the job may be left, here or in another database
  UNIQUE(project, job_id)) STRICT;
CREATE INDEX removed_pending ON removed_jobs(uid) WHERE pending = 1;
CREATE INDEX jobs_finished ON jobs(end_time, uid) WHERE end_time IS NOT NULL AND tuning_uid IS NULL;
)sql",
                                                                   R"sql(
CREATE TABLE last_change(number INTEGER NOT NULL) STRICT;
INSERT INTO last_change VALUES(0);
ALTER TABLE jobs ADD COLUMN change INTEGER NOT NULL DEFAULT 0;  -- its last one; 0: before there were numbers
ALTER TABLE removed_jobs ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_changed ON jobs(project, change) WHERE change > 0;
CREATE INDEX removed_changed ON removed_jobs(project, change) WHERE change > 0;
)sql",
                                                                   R"sql(
CREATE INDEX jobs_ended ON jobs(change) WHERE end_time IS NOT NULL AND tuning_uid IS NULL;
)sql"};

}  // namespace trainyard::store
