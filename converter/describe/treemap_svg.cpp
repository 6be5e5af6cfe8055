#include "describe/treemap_svg.h"

#include <fmt/format.h>

#include <map>

#include "base/readable.h"
#include "pages/chart.h"
#include "pages/html.h"
#include "pages/treemap.h"

namespace bantam::convert {
namespace {

constexpr double kFont = 12, kSmall = 11, kMargin = 5, kLine = 14;

struct Group {
  std::string name;
  std::vector<const Component*> components;
  double bytes = 0;
};

std::vector<Group> group_components(const std::vector<Component>& components) {
  std::vector<Group> groups;
  std::map<std::string, size_t> numbers;
  for (const Component& component : components) {
    const auto [place, fresh] = numbers.try_emplace(component.group, groups.size());
    if (fresh) groups.push_back({component.group, {}, 0});
    Group& group = groups[place->second];
    group.components.push_back(&component);
    group.bytes += static_cast<double>(component.bytes);
  }
  return groups;
}

std::string text_at(double x, double y, const char* style, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", style, x, y, html_escaped(text));
}

/// Returns the name and size of a leaf if they fit below the top `skip` pixels of its box.
std::string leaf_text(const Box& box, double skip, const std::string& name, uint64_t bytes) {
  const double width = box.width - 2 * kMargin;
  if (box.height - skip < kLine + 4) return "";
  std::string shown = fit_text(name, width, kFont);
  const size_t dot = name.rfind('.');
  if (shown != name && dot != std::string::npos) {  // the end of a name is more specific than its beginning
    const std::string end = fit_text(name.substr(dot + 1), width, kFont);
    if (end == name.substr(dot + 1) || shown.empty()) shown = end;
  }
  if (shown.empty()) return "";
  std::string svg = text_at(box.x + kMargin, box.y + skip + kLine, "leafname", shown);
  const std::string size = readable_bytes(bytes);
  if (box.height - skip >= 2 * kLine + 5 && text_width(size, kSmall) <= width)
    svg += text_at(box.x + kMargin, box.y + skip + 2 * kLine, "s", size);
  return svg;
}

class Drawing {
 public:
  explicit Drawing(double bytes) : bytes_(bytes) {}

  void add(const Group& group, const Box& box) {
    std::vector<double> values;
    for (const Component* component : group.components) values.push_back(static_cast<double>(component->bytes));
    const std::vector<Box> boxes = squarify(values, box);
    const Box header = title(group, box);
    for (size_t i = 0; i < boxes.size(); ++i) {
      const Component& component = *group.components[i];
      leaf(component, boxes[i]);
      const bool under =
          header.area() > 0 && boxes[i].y < header.y + header.height && boxes[i].x < header.x + header.width;
      const bool alone = boxes.size() == 1;
      texts_ += leaf_text(boxes[i], under ? header.y + header.height - boxes[i].y : 0,
                          alone ? group.name : component.name, component.bytes);
    }
    edges_ += fmt::format(
        "<rect class=\"edge\" stroke-width=\"3\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
        "height=\"{:.2f}\"/>\n",
        box.x, box.y, box.width, box.height);
  }

  std::string svg() const { return leaves_ + edges_ + texts_; }

 private:
  /// Draws the group's name at the top of its box. Returns the area that it takes; empty if it does not fit.
  Box title(const Group& group, const Box& box) {
    if (group.components.size() == 1 || box.height < 2 * kLine) return {};
    const std::string name = fit_text(group.name, box.width - 2 * kMargin, kFont * 1.1);
    if (name != group.name) return {};
    const std::string size = readable_bytes(static_cast<uint64_t>(group.bytes));
    const std::string both = name + " \xC2\xB7 " + size;
    const bool room = text_width(both, kFont * 1.1) <= box.width - 2 * kMargin;
    texts_ += text_at(box.x + kMargin, box.y + kLine + 1, "b", room ? both : name);
    return {box.x, box.y, text_width(room ? both : name, kFont * 1.1) + 2 * kMargin, kLine + 3};
  }

  void leaf(const Component& component, const Box& box) {
    const double share = static_cast<double>(component.bytes) / bytes_;
    leaves_ += fmt::format(
        "<rect class=\"leaf edge-thin {}\" data-bytes=\"{}\" x=\"{:.4f}\" y=\"{:.4f}\" width=\"{:.4f}\" "
        "height=\"{:.4f}\"><title>{}: {} \xC2\xB7 {} bytes ({}), {:.2f} %</title></rect>\n",
        purpose_class(component.purpose), component.bytes, box.x, box.y, box.width, box.height,
        html_escaped(component.group), html_escaped(component.name), component.bytes, readable_bytes(component.bytes),
        share * 100);
  }

  double bytes_;
  std::string leaves_, edges_, texts_;
};

}  // namespace

std::string purpose_class(Purpose purpose) { return fmt::format("c{}", static_cast<int>(purpose)); }

std::string treemap_svg(const std::vector<Component>& components, double width, double height) {
  const std::vector<Group> groups = group_components(components);
  std::vector<double> values;
  double bytes = 0;
  for (const Group& group : groups) {
    values.push_back(group.bytes);
    bytes += group.bytes;
  }
  const std::vector<Box> boxes = squarify(values, {0, 0, width, height});
  Drawing drawing(bytes);
  for (size_t i = 0; i < groups.size(); ++i) drawing.add(groups[i], boxes[i]);
  return fmt::format(
      "<svg class=\"treemap\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} components of a file of {} "
      "as a treemap; the table below has the same\">\n{}</svg>",
      width, height, components.size(), readable_bytes(static_cast<uint64_t>(bytes)), drawing.svg());
}

}  // namespace bantam::convert
