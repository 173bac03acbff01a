#include "stores/identity/access_store.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/sqlite/rows.h"

namespace trainyard::identity {
namespace {

constexpr std::int32_t kApplicationId = 0x54594143;  // "TYAC"

constexpr std::array<std::string_view, 2> kMigrations{R"sql(
CREATE TABLE accounts (
  email TEXT PRIMARY KEY,
  resource BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL REFERENCES accounts (email) ON DELETE CASCADE,
  public_key BLOB NOT NULL,
  resource BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_by_account ON keys (email);
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  resource BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE policies (
  kind INTEGER NOT NULL,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  policy BLOB NOT NULL,
  PRIMARY KEY (kind, project, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE buckets (
  bucket TEXT PRIMARY KEY,
  project TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE used_assertions (
  id BLOB PRIMARY KEY,
  until_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_assertions_by_time ON used_assertions (until_ns);
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
)sql",
                                                      R"sql(
CREATE TABLE project_numbers (
  project TEXT PRIMARY KEY,
  number INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
CREATE TABLE deleted_accounts (
  email TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
)sql"};

enum Query : std::size_t {
  kPutAccount,
  kDropAccount,
  kListAccounts,
  kPutKey,
  kDropKey,
  kListKeys,
  kPutToken,
  kTouchToken,
  kDropToken,
  kListTokens,
  kPutPolicy,
  kDropPolicy,
  kListPolicies,
  kPutBucket,
  kDropBucket,
  kListBuckets,
  kPutDeleted,
  kListDeleted,
  kPutNumber,
  kListNumbers,
  kPutAssertion,
  kDropAssertions,
  kListAssertions,
  kPutSecret,
  kFindSecret,
  kQueries,
};

constexpr std::array<std::string_view, kQueries> kSql{
    // Not INSERT OR REPLACE: replacing an account would delete its keys.
    "INSERT INTO accounts (email, resource) VALUES (?1, ?2) ON CONFLICT (email) DO UPDATE SET resource = "
    "excluded.resource",
    "DELETE FROM accounts WHERE email = ?1",
    "SELECT resource FROM accounts",
    "INSERT INTO keys (id, email, public_key, resource) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO UPDATE "
    "SET resource = excluded.resource",
    "DELETE FROM keys WHERE id = ?1",
    "SELECT id, email, public_key, resource FROM keys",
    "INSERT INTO tokens (id, hash, resource) VALUES (?1, ?2, ?3)",
    "UPDATE tokens SET resource = ?2 WHERE hash = ?1",
    "DELETE FROM tokens WHERE id = ?1",
    "SELECT hash, resource FROM tokens",
    "INSERT OR REPLACE INTO policies (kind, project, name, policy) VALUES (?1, ?2, ?3, ?4)",
    "DELETE FROM policies WHERE kind = ?1 AND project = ?2 AND name = ?3",
    "SELECT kind, project, name, policy FROM policies",
    "INSERT OR REPLACE INTO buckets (bucket, project) VALUES (?1, ?2)",
    "DELETE FROM buckets WHERE bucket = ?1",
    "SELECT bucket, project FROM buckets",
    "INSERT OR IGNORE INTO deleted_accounts (email) VALUES (?1)",
    "SELECT email FROM deleted_accounts",
    "INSERT INTO project_numbers (project, number) VALUES (?1, ?2)",
    "SELECT project, number FROM project_numbers",
    "INSERT OR REPLACE INTO used_assertions (id, until_ns) VALUES (?1, ?2)",
    "DELETE FROM used_assertions WHERE until_ns <= ?1",
    "SELECT id, until_ns FROM used_assertions",
    "INSERT OR REPLACE INTO secrets (name, value) VALUES (?1, ?2)",
    "SELECT value FROM secrets WHERE name = ?1",
};

constexpr std::string_view kSigningKey = "signing_key";
constexpr std::string_view kNumberSecret = "project_numbers";

Error Damaged() { return {Code::kDataLoss, "access.db: a record cannot be read", {}}; }

Status ReadRecord(std::string_view bytes, google::protobuf::MessageLite& message) {
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return std::unexpected(Damaged());
}

std::string_view BytesOf(const TokenHash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

Result<TokenHash> ReadHash(std::string_view bytes) {
  TokenHash hash{};
  if (bytes.size() != hash.size()) return std::unexpected(Damaged());
  std::ranges::copy(bytes, reinterpret_cast<char*>(hash.data()));
  return hash;
}

constexpr std::int64_t Number(iam::Resource::Kind kind) {
  switch (kind) {  // stored: never renumber
    case iam::Resource::Kind::kInstallation: return 1;
    case iam::Resource::Kind::kProject: return 2;
    case iam::Resource::Kind::kJob: return 3;
    case iam::Resource::Kind::kBucket: return 4;
    case iam::Resource::Kind::kServiceAccount: return 5;
  }
  return 0;
}

Result<iam::Resource::Kind> KindOf(std::int64_t number) {
  using Kind = iam::Resource::Kind;
  for (const Kind kind : {Kind::kInstallation, Kind::kProject, Kind::kBucket, Kind::kServiceAccount}) {
    if (Number(kind) == number) return kind;
  }
  return std::unexpected(Damaged());
}

}  // namespace

Result<AccessStore> AccessStore::Open(const std::string& path) {
  const sqlite::DatabaseOptions options{
      .path = path, .application_id = kApplicationId, .migrations = kMigrations};
  TY_TRY(sqlite::Database database, sqlite::Database::Open(options));
  TY_TRY(std::vector<sqlite::Statement> statements, database.PrepareAll(kSql));
  return AccessStore(std::move(database), std::move(statements));
}

Status AccessStore::LoadAccounts(AccessChange& all) {
  return EachRow(statements_[kListAccounts].Query(), [&](const sqlite::Cursor& row) {
    return ReadRecord(row.Bytes(0), all.accounts.emplace_back());
  });
}

Status AccessStore::LoadKeys(AccessChange& all) {
  return EachRow(statements_[kListKeys].Query(), [&](const sqlite::Cursor& row) -> Status {
    TY_TRY(RsaPublicKey key, RsaPublicKey::FromDer(row.Bytes(2)));
    all.keys.push_back({.email = std::string(row.Text(1)),
                        .id = std::string(row.Text(0)),
                        .public_key = std::move(key),
                        .record = {}});
    return ReadRecord(row.Bytes(3), all.keys.back().record);
  });
}

Status AccessStore::LoadTokens(AccessChange& all) {
  return EachRow(statements_[kListTokens].Query(), [&](const sqlite::Cursor& row) -> Status {
    StoredToken& token = all.tokens.emplace_back();
    TY_TRY(token.hash, ReadHash(row.Bytes(0)));
    return ReadRecord(row.Bytes(1), token.record);
  });
}

Status AccessStore::LoadPolicies(AccessChange& all) {
  TY_TRY(all.buckets, AllRows(statements_[kListBuckets].Query(), [](const sqlite::Cursor& row) {
           return StoredBucket{.bucket = std::string(row.Text(0)), .project = std::string(row.Text(1))};
         }));
  return EachRow(statements_[kListPolicies].Query(), [&](const sqlite::Cursor& row) -> Status {
    StoredPolicy& policy = all.policies.emplace_back();
    TY_TRY(policy.resource.kind, KindOf(row.Int(0)));
    policy.resource.project = row.Text(1);
    policy.resource.name = row.Text(2);
    return ReadRecord(row.Bytes(3), policy.policy);
  });
}

Status AccessStore::LoadNumbers(AccessChange& all) {
  TY_RETURN_IF_ERROR(EachRow(statements_[kListDeleted].Query(), [&](const sqlite::Cursor& row) {
    all.accounts_dropped.emplace_back(row.Text(0));
  }));
  return EachRow(statements_[kListNumbers].Query(), [&](const sqlite::Cursor& row) {
    all.numbers.push_back({.project = std::string(row.Text(0)), .number = row.Int(1)});
  });
}

Result<AccessChange> AccessStore::Load() {
  AccessChange all;
  TY_RETURN_IF_ERROR(LoadAccounts(all));
  TY_RETURN_IF_ERROR(LoadKeys(all));
  TY_RETURN_IF_ERROR(LoadTokens(all));
  TY_RETURN_IF_ERROR(LoadPolicies(all));
  TY_RETURN_IF_ERROR(LoadNumbers(all));
  return all;
}

Status AccessStore::Drop(const AccessChange& change) {
  for (const std::string& id : change.tokens_dropped) TY_RETURN_IF_ERROR(statements_[kDropToken].Run(id));
  for (const std::string& id : change.keys_dropped) TY_RETURN_IF_ERROR(statements_[kDropKey].Run(id));
  for (const std::string& email : change.accounts_dropped) {
    TY_RETURN_IF_ERROR(statements_[kDropAccount].Run(email));
    TY_RETURN_IF_ERROR(statements_[kPutDeleted].Run(email));
  }
  for (const iam::Resource& resource : change.policies_dropped)
    TY_RETURN_IF_ERROR(statements_[kDropPolicy].Run(Number(resource.kind), resource.project, resource.name));
  for (const std::string& bucket : change.buckets_dropped)
    TY_RETURN_IF_ERROR(statements_[kDropBucket].Run(bucket));
  return {};
}

Status AccessStore::Put(const AccessChange& change) {
  for (const v1::ServiceAccount& account : change.accounts) {
    TY_RETURN_IF_ERROR(
        statements_[kPutAccount].Run(account.email(), sqlite::Blob{account.SerializeAsString()}));
  }
  for (const StoredKey& key : change.keys) {
    TY_RETURN_IF_ERROR(statements_[kPutKey].Run(key.id, key.email, sqlite::Blob{key.public_key.der()},
                                                sqlite::Blob{key.record.SerializeAsString()}));
  }
  for (const StoredToken& token : change.tokens) {
    TY_RETURN_IF_ERROR(statements_[kPutToken].Run(token.record.id(), sqlite::Blob{BytesOf(token.hash)},
                                                  sqlite::Blob{token.record.SerializeAsString()}));
  }
  for (const StoredPolicy& kept : change.policies) {
    TY_RETURN_IF_ERROR(statements_[kPutPolicy].Run(Number(kept.resource.kind), kept.resource.project,
                                                   kept.resource.name,
                                                   sqlite::Blob{kept.policy.SerializeAsString()}));
  }
  for (const StoredBucket& kept : change.buckets)
    TY_RETURN_IF_ERROR(statements_[kPutBucket].Run(kept.bucket, kept.project));
  for (const ProjectNumber& kept : change.numbers)
    TY_RETURN_IF_ERROR(statements_[kPutNumber].Run(kept.project, kept.number));
  return {};
}

Status AccessStore::Apply(const AccessChange& change) {
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  TY_RETURN_IF_ERROR(Drop(change));
  TY_RETURN_IF_ERROR(Put(change));
  return transaction.Commit();
}

Status AccessStore::PutLastUse(const TokenHash& hash, const v1::Token& token) {
  return statements_[kTouchToken].Run(sqlite::Blob{BytesOf(hash)}, sqlite::Blob{token.SerializeAsString()});
}

Result<std::vector<AccessStore::UsedAssertion>> AccessStore::UsedAssertions() {
  return AllRows(statements_[kListAssertions].Query(),
                 [](const sqlite::Cursor& row) -> Result<UsedAssertion> {
                   TY_TRY(const TokenHash id, ReadHash(row.Bytes(0)));
                   return UsedAssertion{.id = id, .until = SysTime(std::chrono::nanoseconds(row.Int(1)))};
                 });
}

Status AccessStore::PutUsedAssertion(const UsedAssertion& used, SysTime now) {
  TY_RETURN_IF_ERROR(statements_[kDropAssertions].Run(now.time_since_epoch().count()));
  return statements_[kPutAssertion].Run(sqlite::Blob{BytesOf(used.id)},
                                        used.until.time_since_epoch().count());
}

Result<std::optional<std::string>> AccessStore::FindSecret(std::string_view name) {
  return FirstRow(statements_[kFindSecret].Query(name),
                  [](const sqlite::Cursor& row) { return std::string(row.Bytes(0)); });
}

Status AccessStore::PutSecret(std::string_view name, const std::string& value) {
  return statements_[kPutSecret].Run(name, sqlite::Blob{value});
}

Result<std::optional<std::string>> AccessStore::SigningKey() { return FindSecret(kSigningKey); }

Status AccessStore::PutSigningKey(const std::string& pem) { return PutSecret(kSigningKey, pem); }

Result<std::optional<std::string>> AccessStore::NumberSecret() { return FindSecret(kNumberSecret); }

Status AccessStore::PutNumberSecret(const std::string& secret) { return PutSecret(kNumberSecret, secret); }

}  // namespace trainyard::identity
