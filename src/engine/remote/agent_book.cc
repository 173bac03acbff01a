#include "engine/remote/agent_book.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/async/random_bytes.h"
#include "base/number.h"
#include "base/text/hex.h"

namespace trainyard::engine {

namespace {

constexpr std::int32_t kApplicationId = 0x5459454e;  // "TYEN"
constexpr int kInstallationDigits = 8;

constexpr std::array<std::string_view, 2> kMigrations{R"sql(
CREATE TABLE installation (
  name TEXT NOT NULL
) STRICT;
CREATE TABLE submissions (
  job_uid INTEGER NOT NULL,
  try_number INTEGER NOT NULL,
  number INTEGER NOT NULL,
  ticket_sha256 TEXT NOT NULL,
  replicas TEXT NOT NULL,
  PRIMARY KEY (job_uid, try_number)
) STRICT, WITHOUT ROWID;
CREATE TABLE holders (
  job_uid INTEGER NOT NULL,
  try_number INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  instance_sha256 TEXT NOT NULL,
  node BLOB NOT NULL,
  PRIMARY KEY (job_uid, try_number, slot),
  FOREIGN KEY (job_uid, try_number) REFERENCES submissions (job_uid, try_number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
)sql",
                                                      R"sql(
CREATE TABLE cancels (
  job_uid INTEGER NOT NULL,
  try_number INTEGER NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (job_uid, try_number, id),
  FOREIGN KEY (job_uid, try_number) REFERENCES submissions (job_uid, try_number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
)sql"};

enum Query : std::size_t {
  kFindInstallation,
  kAddInstallation,
  kListSubmissions,
  kListHolders,
  kListCancels,
  kDropSubmission,
  kAddSubmission,
  kAddHolder,
  kAddCancel,
  kVoidTicket,
  kQueries,
};

constexpr std::array<std::string_view, kQueries> kSql{
    "SELECT name FROM installation",
    "INSERT INTO installation (name) VALUES (?1)",
    "SELECT job_uid, try_number, number, ticket_sha256, replicas FROM submissions ORDER BY 1, 2",
    "SELECT slot, instance_sha256, node FROM holders WHERE job_uid = ?1 AND try_number = ?2",
    "SELECT id FROM cancels WHERE job_uid = ?1 AND try_number = ?2",
    "DELETE FROM submissions WHERE job_uid = ?1 AND try_number = ?2",
    "INSERT INTO submissions (job_uid, try_number, number, ticket_sha256, replicas) VALUES (?1, ?2, ?3, ?4, "
    "?5)",
    "INSERT INTO holders (job_uid, try_number, slot, instance_sha256, node) VALUES (?1, ?2, ?3, ?4, ?5)",
    "INSERT OR IGNORE INTO cancels (job_uid, try_number, id) SELECT job_uid, try_number, ?3 FROM submissions "
    "WHERE job_uid = ?1 AND try_number = ?2",
    "UPDATE submissions SET ticket_sha256 = '' WHERE job_uid = ?1 AND try_number = ?2 AND number = ?3"};

std::string PrintNumbers(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::vector<int> ParseNumbers(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    numbers.push_back(LeadingNumber<int>(one).value_or(0));
  }
  return numbers;
}

}  // namespace

Result<AgentBook> AgentBook::Open(const std::string& path) {
  TY_TRY(sqlite::Database database,
         sqlite::Database::Open({.path = path, .application_id = kApplicationId, .migrations = kMigrations}));
  AgentBook book(std::move(database));
  TY_TRY(book.statements_, book.database_.PrepareAll(kSql));
  return book;
}

Result<std::string> AgentBook::Installation() {
  {
    sqlite::Cursor row = statements_[kFindInstallation].Query();
    TY_TRY(const bool is_there, row.Next());
    if (is_there) return std::string(row.Text(0));
  }
  std::string name = text::HexNumber(RandomBytes<std::uint64_t>(), kInstallationDigits);
  TY_RETURN_IF_ERROR(statements_[kAddInstallation].Run(name));
  return name;
}

Result<std::vector<SubmissionRecord>> AgentBook::Load() {
  std::vector<SubmissionRecord> all;
  sqlite::Cursor row = statements_[kListSubmissions].Query();
  for (;;) {
    TY_TRY(const bool is_there, row.Next());
    if (!is_there) return all;
    SubmissionRecord& one = all.emplace_back();
    one.submission = {.gang = {.job_uid = row.Int(0), .try_number = static_cast<int>(row.Int(1))},
                      .number = static_cast<int>(row.Int(2))};
    one.ticket_sha256 = row.Text(3);
    one.replicas = ParseNumbers(row.Text(4));
    sqlite::Cursor holder =
        statements_[kListHolders].Query(one.submission.gang.job_uid, one.submission.gang.try_number);
    for (;;) {
      TY_TRY(const bool has_holder, holder.Next());
      if (!has_holder) break;
      SlotHolder& known = one.holders[static_cast<int>(holder.Int(0))];
      known.instance_sha256 = holder.Text(1);
      const std::string_view node = holder.Bytes(2);
      if (!known.node.ParseFromArray(node.data(), static_cast<int>(node.size())))
        return std::unexpected(
            Error{Code::kDataLoss, database_.Path() + " has a node that cannot be read", {}});
    }
    sqlite::Cursor cancel =
        statements_[kListCancels].Query(one.submission.gang.job_uid, one.submission.gang.try_number);
    for (;;) {
      TY_TRY(const bool has_cancel, cancel.Next());
      if (!has_cancel) break;
      one.cancelled.insert(cancel.Int(0));
    }
  }
}

Status AgentBook::Together(const std::function<Status()>& work) {
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  TY_RETURN_IF_ERROR(work());
  return transaction.Commit();
}

Status AgentBook::Put(const SubmissionRecord& submitted) {
  const placement::GangKey& gang = submitted.submission.gang;
  TY_RETURN_IF_ERROR(statements_[kDropSubmission].Run(gang.job_uid, gang.try_number));
  return statements_[kAddSubmission].Run(gang.job_uid, gang.try_number, submitted.submission.number,
                                         submitted.ticket_sha256, PrintNumbers(submitted.replicas));
}

Status AgentBook::PutHolder(const placement::Submission& submission, int slot, const SlotHolder& holder) {
  const std::string node = holder.node.SerializeAsString();
  return statements_[kAddHolder].Run(submission.gang.job_uid, submission.gang.try_number, slot,
                                     holder.instance_sha256, sqlite::Blob{node});
}

Status AgentBook::PutCancel(const placement::GangKey& gang, std::int64_t id) {
  return statements_[kAddCancel].Run(gang.job_uid, gang.try_number, id);
}

Status AgentBook::VoidTicket(const placement::Submission& submission) {
  return statements_[kVoidTicket].Run(submission.gang.job_uid, submission.gang.try_number, submission.number);
}

Status AgentBook::Drop(const placement::GangKey& gang) {
  return statements_[kDropSubmission].Run(gang.job_uid, gang.try_number);
}

}  // namespace trainyard::engine
