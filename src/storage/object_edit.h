#pragma once

#include <functional>

#include "base/result.h"
#include "trainyard/storage/v1/storage.pb.h"

namespace trainyard::storage {

/// Changes what a client may change of an object: a pure function, called on another thread. Its error is
/// returned and nothing is changed.
using ObjectEdit = std::function<Status(v1::Object& object)>;

/// The same of a bucket. What a client may not change is put back afterwards.
using BucketEdit = std::function<Status(v1::Bucket& bucket)>;

}  // namespace trainyard::storage
