#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/iam/policy_index.h"
#include "stores/identity/access_store.h"
#include "stores/identity/bucket_projects.h"

namespace trainyard::identity {

/// "token T" or "key K": the credential that the token was exchanged for or made through; otherwise the
/// principal that asked for it.
[[nodiscard]] inline const std::string& CredentialBehind(const v1::Token& token) {
  return token.through().empty() ? token.issuer() : token.through();
}

/// Everything that is stored, in memory and indexed. A value, without rules and clocks; one thread at a time.
/// Pointers and references are valid until the next Apply().
class Directory {
 public:
  static constexpr std::size_t kShownMax = 10'000;

  /// @param default_project  the project of buckets for which none was recorded.
  explicit Directory(std::string default_project)
      : bucket_projects_(std::make_shared<BucketProjects>(std::move(default_project))) {}

  void Apply(const AccessChange& change);

  // --- accounts and keys

  struct Account {
    v1::ServiceAccount record;
    std::map<std::string, StoredKey, std::less<>> keys;  ///< by id
  };
  /// By e-mail or unique id; null: there is none.
  [[nodiscard]] const Account* FindAccount(std::string_view email_or_id) const;
  [[nodiscard]] const std::map<std::string, Account, std::less<>>& accounts() const { return accounts_; }
  /// Whether an account of this e-mail was ever deleted.
  [[nodiscard]] bool WasDeleted(std::string_view email) const { return deleted_.contains(email); }

  // --- tokens

  [[nodiscard]] const StoredToken* FindToken(const TokenHash& hash) const;
  [[nodiscard]] const StoredToken* FindTokenById(std::string_view id) const;
  /// The tokens of one principal, in the order of their ids.
  [[nodiscard]] std::vector<const StoredToken*> TokensOf(std::string_view principal) const;
  [[nodiscard]] std::vector<const StoredToken*> AllTokens() const;
  /// Ids of the tokens that were made from a credential: "token T", "key K" (CredentialBehind).
  [[nodiscard]] const std::set<std::string>& TokensMadeFrom(std::string_view credential) const;
  /// Returns the token to be written; null: it is gone.
  const StoredToken* SetLastUse(const TokenHash& hash, const google::protobuf::Timestamp& time);

  // --- policies

  struct PolicyEntry {
    StoredPolicy kept;
    iam::PolicyIndex index;
  };
  /// Null: none was set. The resource's project is ignored where its name alone identifies it.
  [[nodiscard]] const PolicyEntry* FindPolicy(const iam::Resource& resource) const;
  [[nodiscard]] const std::map<std::string, PolicyEntry, std::less<>>& policies() const { return policies_; }

  [[nodiscard]] const std::string& default_project() const noexcept {
    return bucket_projects_->default_project();
  }
  /// For queries from other threads.
  [[nodiscard]] const std::shared_ptr<BucketProjects>& bucket_projects() const noexcept {
    return bucket_projects_;
  }
  /// All projects that any stored record names, and the default project.
  [[nodiscard]] const std::set<std::string, std::less<>>& projects() const { return projects_; }

  [[nodiscard]] const ProjectNumbers& numbers() const noexcept { return numbers_; }
  /// Remembers the number of a project that no record names yet: its agent can be bound, until kShownMax
  /// other numbers were shown.
  void ShowNumber(const ProjectNumber& shown);
  /// The project whose service agent has this e-mail; null: there is none.
  [[nodiscard]] const std::string* ProjectOfAgent(std::string_view email) const;

  /// The policy that applies to buckets of the project for which none was set.
  [[nodiscard]] const iam::PolicyIndex& BucketDefaultOf(std::string_view project) const;

  /// Returns the form in which policies are stored: buckets without their project, service accounts with that
  /// of the account.
  [[nodiscard]] iam::Resource Normal(iam::Resource resource) const;

 private:
  struct HashOfHash {
    std::size_t operator()(const TokenHash& hash) const noexcept {
      std::size_t value = 0;  // any part of a SHA-256 is as good as another hash of it
      std::memcpy(&value, hash.data(), sizeof value);
      return value;
    }
  };
  void Drop(const AccessChange& change);
  void DropToken(const std::string& id);
  void CollectProjects();

  std::shared_ptr<BucketProjects> bucket_projects_;
  std::map<std::string, Account, std::less<>> accounts_;        ///< by e-mail
  std::set<std::string, std::less<>> deleted_;                  ///< e-mails
  std::map<std::string, std::string, std::less<>> emails_;      ///< by unique id
  std::map<std::string, std::string, std::less<>> key_owners_;  ///< e-mail by key id
  std::unordered_map<TokenHash, StoredToken, HashOfHash> tokens_;
  std::map<std::string, TokenHash, std::less<>> token_ids_;
  std::map<std::string, std::set<std::string>, std::less<>> tokens_of_;  ///< ids by principal
  std::map<std::string, std::set<std::string>, std::less<>> made_from_;  ///< ids by credential
  std::map<std::string, PolicyEntry, std::less<>> policies_;             ///< by iam::NameOf
  std::set<std::string, std::less<>> projects_;
  ProjectNumbers numbers_;
  std::map<std::int64_t, std::string> shown_;  ///< numbers of projects that are not stored
  std::map<std::string, iam::PolicyIndex, std::less<>> bucket_defaults_;  ///< by project
};

// What policies grant. Pure: any thread; a few look-ups per question.

/// Whether policies of the resource and of its parents give the permission; for a job, only those of its
/// parents. A project's service agent (cluster::ServiceAccount) has iam::kServiceAgent there without a
/// binding.
[[nodiscard]] bool Grants(const Directory& known, std::string_view principal, std::string_view permission,
                          const iam::Resource& resource);

/// Whether a basic role is bound to the principal on the project, or on the whole installation.
[[nodiscard]] bool HasBasicRole(const Directory& known, std::string_view principal, std::string_view role,
                                std::string_view project);

/// Whether policies of the resource or its parents bind any role to the principal.
[[nodiscard]] bool Knows(const Directory& known, std::string_view principal, const iam::Resource& resource);

}  // namespace trainyard::identity
