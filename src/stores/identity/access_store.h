#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite/database.h"
#include "rules/iam/resource.h"
#include "stores/identity/project_numbers.h"
#include "stores/identity/rsa_key.h"
#include "stores/identity/token_text.h"
#include "trainyard/iam/v1/policy.pb.h"
#include "trainyard/identity/v1/identity.pb.h"

namespace trainyard::identity {

struct StoredKey {
  std::string email;  ///< the e-mail of its account
  std::string id;
  RsaPublicKey public_key;
  v1::ServiceAccountKey record;
};

struct StoredToken {
  TokenHash hash{};
  v1::Token record;
};

struct StoredPolicy {
  iam::Resource resource;  ///< a bucket is stored without its project
  iam::v1::Policy policy;
};

struct StoredBucket {
  std::string bucket;
  std::string project;
};

/// What is to be stored: rules compute a change, the store writes it in one transaction, then memory follows.
/// Applied in the order of the members: first the deletions, then the additions. An addition replaces what
/// has the same name.
struct AccessChange {
  std::vector<std::string> tokens_dropped;    ///< by id
  std::vector<std::string> keys_dropped;      ///< by id
  std::vector<std::string> accounts_dropped;  ///< by e-mail; their keys go with them
  std::vector<iam::Resource> policies_dropped;
  std::vector<std::string> buckets_dropped;
  std::vector<v1::ServiceAccount> accounts;
  std::vector<StoredKey> keys;
  std::vector<StoredToken> tokens;
  std::vector<StoredPolicy> policies;
  std::vector<StoredBucket> buckets;
  std::vector<ProjectNumber> numbers;  ///< for projects without one
};

/// DATA/access.db: accounts, public keys, hashes of tokens, policies; and its only secret, the key that signs
/// identity tokens, for which the file is 0600. Plain reads and writes, no rules. Blocking; one thread at a
/// time. Errors: as sqlite::SqliteError; kDataLoss for a row that cannot be read.
class AccessStore {
 public:
  [[nodiscard]] static Result<AccessStore> Open(const std::string& path);

  /// The whole contents, as a change to an empty store.
  [[nodiscard]] Result<AccessChange> Load();
  /// Writes all of it or nothing; durable when it returns.
  [[nodiscard]] Status Apply(const AccessChange& change);
  /// Stores the last use of a token; the token may be gone by now.
  [[nodiscard]] Status PutLastUse(const TokenHash& hash, const v1::Token& token);

  /// Assertions that were used once and must not be used again.
  struct UsedAssertion {
    TokenHash id{};  ///< hash of issuer and jti
    SysTime until;
  };
  [[nodiscard]] Result<std::vector<UsedAssertion>> UsedAssertions();
  /// Also forgets the expired ones.
  [[nodiscard]] Status PutUsedAssertion(const UsedAssertion& used, SysTime now);

  /// The key that signs identity tokens, PEM; nothing: there is none yet.
  [[nodiscard]] Result<std::optional<std::string>> SigningKey();
  [[nodiscard]] Status PutSigningKey(const std::string& pem);

  /// The secret for ProjectNumbers::Choose; nothing: this file does not store numbers yet.
  [[nodiscard]] Result<std::optional<std::string>> NumberSecret();
  [[nodiscard]] Status PutNumberSecret(const std::string& secret);

 private:
  AccessStore(sqlite::Database database, std::vector<sqlite::Statement> statements)
      : database_(std::move(database)), statements_(std::move(statements)) {}

  Status Drop(const AccessChange& change);
  Status Put(const AccessChange& change);
  Status LoadAccounts(AccessChange& all);
  Status LoadKeys(AccessChange& all);
  Status LoadTokens(AccessChange& all);
  Status LoadPolicies(AccessChange& all);
  Status LoadNumbers(AccessChange& all);
  Result<std::optional<std::string>> FindSecret(std::string_view name);
  Status PutSecret(std::string_view name, const std::string& value);

  sqlite::Database database_;
  std::vector<sqlite::Statement> statements_;  ///< after the database: destroyed first
};

}  // namespace trainyard::identity
