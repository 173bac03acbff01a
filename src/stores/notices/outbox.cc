#include "stores/notices/outbox.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/sqlite/database.h"
#include "base/sqlite/rows.h"

namespace trainyard::notices {

namespace {

constexpr std::int32_t kApplicationId = 0x54796e6f;  // "Tyno"
constexpr std::array<std::string_view, 1> kMigrations = {R"sql(
CREATE TABLE last_read(number INTEGER NOT NULL) STRICT;
CREATE TABLE known(
  notice_id TEXT PRIMARY KEY,
  time INTEGER NOT NULL) STRICT, WITHOUT ROWID;  -- Unix time in ns, as all times here
CREATE INDEX known_oldest ON known(time);
CREATE TABLE letters(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  destination TEXT NOT NULL,
  notice_id TEXT NOT NULL,
  job TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  json TEXT NOT NULL,
  created INTEGER NOT NULL,
  due INTEGER NOT NULL,
  tries INTEGER NOT NULL) STRICT;
CREATE INDEX letters_due ON letters(destination, due, number);
)sql"};

std::int64_t Number(SysTime time) { return time.time_since_epoch().count(); }
SysTime TimeOf(std::int64_t number) { return SysTime(SysTime::duration(number)); }

Letter LetterOf(const sqlite::Cursor& row) {
  return {.number = row.Int(0),
          .destination = std::string(row.Text(1)),
          .notice_id = std::string(row.Text(2)),
          .job = std::string(row.Text(3)),
          .subject = std::string(row.Text(4)),
          .text = std::string(row.Text(5)),
          .json = std::string(row.Text(6)),
          .created = TimeOf(row.Int(7)),
          .due = TimeOf(row.Int(8)),
          .tries = static_cast<int>(row.Int(9))};
}

}  // namespace

struct Outbox::State {
  explicit State(sqlite::Database opened) : database(std::move(opened)) {}

  sqlite::Database database;
  sqlite::Statement last_read, note_read, first_read, know, forget, forget_all, count, add, next, remove,
      postpone, destinations, remove_all_of;

  Status Prepare() {
    return database.PrepareAll({
        {&last_read, "SELECT number FROM last_read"},
        {&note_read, "UPDATE last_read SET number = ?1"},
        {&first_read, "INSERT INTO last_read VALUES(?1)"},
        {&know, "INSERT OR IGNORE INTO known VALUES(?1, ?2)"},
        {&forget, "DELETE FROM known WHERE time < ?1"},
        {&forget_all, "DELETE FROM known"},
        {&count, "SELECT count(*) FROM letters"},
        {&add,
         "INSERT INTO letters(destination, notice_id, job, subject, text, json, created, due, tries) "
         "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
        {&next,
         "SELECT number, destination, notice_id, job, subject, text, json, created, due, tries FROM letters "
         "INDEXED BY letters_due WHERE destination = ?1 ORDER BY due, number LIMIT 1"},
        {&remove, "DELETE FROM letters WHERE number = ?1"},
        {&postpone, "UPDATE letters SET due = ?2, tries = tries + 1 WHERE number = ?1"},
        {&destinations, "SELECT DISTINCT destination FROM letters"},
        {&remove_all_of, "DELETE FROM letters WHERE destination = ?1"},
    });
  }

  Status NoteRead(std::int64_t number) {
    TY_RETURN_IF_ERROR(note_read.Run(number));
    if (database.Changes() > 0) return {};
    return first_read.Run(number);
  }

  /// Adds the letters while there is room, and counts the others.
  Status Add(const Posting& posting, std::int64_t& room, std::int64_t& dropped) {
    TY_RETURN_IF_ERROR(know.Run(posting.notice_id, Number(posting.time)));
    if (database.Changes() == 0) return {};
    for (const Letter& letter : posting.letters) {
      if (room <= 0) {
        ++dropped;
        continue;
      }
      TY_RETURN_IF_ERROR(add.Run(letter.destination, letter.notice_id, letter.job, letter.subject,
                                 letter.text, letter.json, Number(letter.created), Number(letter.due),
                                 letter.tries));
      --room;
    }
    return forget.Run(Number(posting.time - kRememberFor));
  }
};

Outbox::Outbox(std::unique_ptr<State> state) : state_(std::move(state)) {}
Outbox::~Outbox() = default;

Result<std::unique_ptr<Outbox>> Outbox::Open(const std::string& path) {
  TY_TRY(sqlite::Database database,
         sqlite::Database::Open({.path = path, .application_id = kApplicationId, .migrations = kMigrations}));
  auto state = std::make_unique<State>(std::move(database));
  TY_RETURN_IF_ERROR(state->Prepare());
  return std::unique_ptr<Outbox>(new Outbox(std::move(state)));
}

Result<std::optional<std::int64_t>> Outbox::LastRead() {
  return sqlite::FirstRow(state_->last_read.Query(), [](const sqlite::Cursor& row) { return row.Int(0); });
}

Status Outbox::BeginAt(std::int64_t last_read) {
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(state_->database));
  TY_RETURN_IF_ERROR(state_->forget_all.Run());
  TY_RETURN_IF_ERROR(state_->NoteRead(last_read));
  return transaction.Commit();
}

Result<std::int64_t> Outbox::Post(const std::vector<Posting>& postings,
                                  std::optional<std::int64_t> last_read) {
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(state_->database));
  TY_TRY(const std::int64_t kept, sqlite::FirstInt(state_->count.Query()));
  std::int64_t room = kLettersMax - kept;
  std::int64_t dropped = 0;
  for (const Posting& posting : postings) TY_RETURN_IF_ERROR(state_->Add(posting, room, dropped));
  if (last_read) TY_RETURN_IF_ERROR(state_->NoteRead(*last_read));
  TY_RETURN_IF_ERROR(transaction.Commit());
  return dropped;
}

Result<std::optional<Letter>> Outbox::Next(const std::string& destination) {
  return sqlite::FirstRow(state_->next.Query(destination), LetterOf);
}

Status Outbox::Remove(std::int64_t number) { return state_->remove.Run(number); }

Status Outbox::Postpone(std::int64_t number, SysTime due) {
  return state_->postpone.Run(number, Number(due));
}

Result<std::int64_t> Outbox::RemoveOthers(const std::vector<std::string>& destinations) {
  TY_TRY(const std::vector<std::string> all,
         sqlite::AllRows(state_->destinations.Query(),
                         [](const sqlite::Cursor& row) { return std::string(row.Text(0)); }));
  std::int64_t removed = 0;
  for (const std::string& each : all) {
    if (std::ranges::find(destinations, each) != destinations.end()) continue;
    TY_RETURN_IF_ERROR(state_->remove_all_of.Run(each));
    removed += state_->database.Changes();
  }
  return removed;
}

}  // namespace trainyard::notices
