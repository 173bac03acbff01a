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
#include "stores/identity/access_change.h"
#include "stores/identity/bucket_projects.h"

namespace trainyard::identity {

/// "token T" or "key K": what the token was exchanged for, or made through; else who asked for it.
[[nodiscard]] inline const std::string& CredentialBehind(const v1::Token& token) {
  return token.through().empty() ? token.issuer() : token.through();
}

/// Everything that is kept, in memory and ready to be asked. A value, without rules and clocks; one thread at
/// a time. Pointers and references are valid until the next Apply().
class Directory {
 public:
  static constexpr std::size_t kShownMax = 10'000;

  /// @param default_project  of buckets whose project was not recorded.
  explicit Directory(std::string default_project)
      : bucket_projects_(std::make_shared<BucketProjects>(std::move(default_project))) {}

  void Apply(const AccessChange& change);

  // --- accounts and keys

  struct Account {
    v1::ServiceAccount record;
    std::map<std::string, KeptKey, std::less<>> keys;  ///< by id
  };
  /// By e-mail or unique id; null: there is none.
  [[nodiscard]] const Account* FindAccount(std::string_view email_or_id) const;
  [[nodiscard]] const std::map<std::string, Account, std::less<>>& accounts() const { return accounts_; }
  /// Whether an account of this e-mail was ever deleted.
  [[nodiscard]] bool WasDeleted(std::string_view email) const { return deleted_.contains(email); }

  // --- tokens

  [[nodiscard]] const KeptToken* FindToken(const TokenHash& hash) const;
  [[nodiscard]] const KeptToken* FindTokenById(std::string_view id) const;
  /// Of one principal, in the order of their ids.
  [[nodiscard]] std::vector<const KeptToken*> TokensOf(std::string_view principal) const;
  [[nodiscard]] std::vector<const KeptToken*> AllTokens() const;
  /// Ids of those that were made from a credential: "token T", "key K" (CredentialBehind).
  [[nodiscard]] const std::set<std::string>& TokensMadeFrom(std::string_view credential) const;
  /// To be written as it is then; null: it is gone.
  const KeptToken* SetLastUse(const TokenHash& hash, const google::protobuf::Timestamp& time);

  // --- policies

  struct PolicyEntry {
    KeptPolicy kept;
    iam::PolicyIndex index;
  };
  /// Null: none was set. The resource's project is not looked at where its name alone says which it is.
  [[nodiscard]] const PolicyEntry* FindPolicy(const iam::Resource& resource) const;
  [[nodiscard]] const std::map<std::string, PolicyEntry, std::less<>>& policies() const { return policies_; }

  [[nodiscard]] const std::string& default_project() const noexcept {
    return bucket_projects_->default_project();
  }
  /// What other threads may ask, too.
  [[nodiscard]] const std::shared_ptr<BucketProjects>& bucket_projects() const noexcept {
    return bucket_projects_;
  }
  /// That anything kept names, and the default one.
  [[nodiscard]] const std::set<std::string, std::less<>>& projects() const { return projects_; }

  [[nodiscard]] const ProjectNumbers& numbers() const noexcept { return numbers_; }
  /// Of a project that nothing names yet: its agent can be bound, until kShownMax others were shown.
  void ShowNumber(const KeptNumber& shown);
  /// The project whose own account has this e-mail; null: it is no such account's.
  [[nodiscard]] const std::string* ProjectOfAgent(std::string_view email) const;

  /// What stands for the policy of a bucket of one of these projects.
  [[nodiscard]] const iam::PolicyIndex& BucketDefaultOf(std::string_view project) const;

  /// As policies are kept: buckets without their project, service accounts with that of the account.
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
  std::unordered_map<TokenHash, KeptToken, HashOfHash> tokens_;
  std::map<std::string, TokenHash, std::less<>> token_ids_;
  std::map<std::string, std::set<std::string>, std::less<>> tokens_of_;  ///< ids by principal
  std::map<std::string, std::set<std::string>, std::less<>> made_from_;  ///< ids by credential
  std::map<std::string, PolicyEntry, std::less<>> policies_;             ///< by iam::NameOf
  std::set<std::string, std::less<>> projects_;
  ProjectNumbers numbers_;
  std::map<std::int64_t, std::string> shown_;  ///< numbers of projects that are kept nowhere
  std::map<std::string, iam::PolicyIndex, std::less<>> bucket_defaults_;  ///< by project
};

}  // namespace trainyard::identity
