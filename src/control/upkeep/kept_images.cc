#include "control/upkeep/kept_images.h"

#include <algorithm>
#include <vector>

#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "programs/image/collect.h"

namespace trainyard::control {

control::v1::ImageList KeptImages(const std::string& images_dir) {
  std::vector<image::ListedImage> kept = image::ListImages(images_dir);
  std::ranges::sort(kept, std::ranges::greater{}, &image::ListedImage::used);
  control::v1::ImageList list;
  for (const image::ListedImage& one : kept) {
    control::v1::ImageList::Image& image = *list.add_images();
    image.set_reference(wire::ReplaceMalformed(one.names.empty() ? one.reference : one.names.front()));
    image.set_digest(one.digest);
    image.set_size_bytes(one.unpacked_bytes);
    *image.mutable_last_use_time() = wire::ToProto(SysTime(one.used));
    image.set_in_use(one.in_use);
  }
  return list;
}

}  // namespace trainyard::control
