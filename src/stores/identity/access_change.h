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

/// What is to be stored, as values: rules compute a change, the store writes it in one transaction, then
/// memory follows. The whole contents of the store are a change, too.
namespace trainyard::identity {

struct KeptKey {
  std::string email;  ///< the e-mail of its account
  std::string id;
  RsaPublicKey public_key;
  v1::ServiceAccountKey record;
};

struct KeptToken {
  TokenHash hash{};
  v1::Token record;
};

struct KeptPolicy {
  iam::Resource resource;  ///< a bucket is stored without its project
  iam::v1::Policy policy;
};

struct KeptBucket {
  std::string bucket;
  std::string project;
};

/// Applied in the order of the members: first the deletions, then the additions. An addition replaces what
/// has the same name.
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
  std::vector<KeptNumber> numbers;  ///< for projects without one
};

}  // namespace trainyard::identity
