#include "base/ordered_json.h"

#include <fmt/format.h>

namespace bantam::convert {

OrderedJson json_object(std::string_view command) {
  // Created explicitly: operator[] on null crashes when memory is exhausted.
  OrderedJson object = OrderedJson::object();
  object["schema"] = fmt::format("bantam.{}/1", command);
  return object;
}

std::string one_line(const OrderedJson& object) {
  return object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace bantam::convert
