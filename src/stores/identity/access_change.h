#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/iam/resource.h"
#include "stores/identity/project_numbers.h"
#include "stores/identity/rsa_key.h"
#include "stores/identity/token_text.h"
#include "trainyard/iam/v1/policy.pb.h"
#include "trainyard/identity/v1/identity.pb.h"

/// What is to be kept, as values: rules make a change, the store writes it in one transaction, then memory
/// follows. All that the store has is a change, too.
namespace trainyard::identity {

struct KeptKey {
  std::string email;  ///< of its account
  std::string id;
  RsaPublicKey public_key;
  v1::ServiceAccountKey record;
};

struct KeptToken {
  TokenHash hash{};
  v1::Token record;
};

struct KeptPolicy {
  iam::Resource resource;  ///< of a bucket: without a project
  iam::v1::Policy policy;
};

struct KeptBucket {
  std::string bucket;
  std::string project;
};

/// Applied in the order of the members; a list of what goes, then of what comes. What comes replaces what has
/// the same name.
struct AccessChange {
  std::vector<std::string> tokens_dropped;    ///< by id
  std::vector<std::string> keys_dropped;      ///< by id
  std::vector<std::string> accounts_dropped;  ///< by e-mail; their keys go with them
  std::vector<iam::Resource> policies_dropped;
  std::vector<std::string> buckets_dropped;
  std::vector<v1::ServiceAccount> accounts;
  std::vector<KeptKey> keys;
  std::vector<KeptToken> tokens;
  std::vector<KeptPolicy> policies;
  std::vector<KeptBucket> buckets;
  std::vector<KeptNumber> numbers;  ///< of projects without one
};

}  // namespace trainyard::identity
