-- Fit the blocks of the Markdown to what they become: a box of its own that scrolls for whatever may
-- be wider than a phone, and a named function of page.typ for what looks different in the PDF.

local html = FORMAT:match("html") ~= nil
local kinds = { contract = true, example = true, subtitle = true }

-- Reachable by keyboard, so that it can be scrolled without a mouse.
local function scrolling(block, name)
  return pandoc.Div({ block }, pandoc.Attr("", { "scroll" },
    { { "tabindex", "0" }, { "role", "region" }, { "aria-label", name } }))
end

local function is_display(inline)
  return inline.t == "Math" and inline.mathtype == "DisplayMath"
end

function Table(block)
  if html then return scrolling(block, "Table") end
end

function CodeBlock(block)
  if html then return scrolling(block, "Code") end
end

function Para(block)
  if html and #block.content == 1 and is_display(block.content[1]) then
    return scrolling(pandoc.Plain(block.content), "Equation")
  end
end

-- Browsers break a line between a formula and the comma after it, unless told not to.
function Inlines(inlines)
  if not html then return nil end
  local result = pandoc.List({})
  for _, inline in ipairs(inlines) do
    local last = result[#result]
    if inline.t == "Str" and inline.text:match("^[.,;:)]") and last and last.t == "Math"
      and not is_display(last) then
      result[#result] = pandoc.Span({ last, inline }, pandoc.Attr("", { "together" }))
    else
      result:insert(inline)
    end
  end
  return result
end

local function quoted(text)
  return '"' .. text:gsub("%s+", " "):gsub("\\", "\\\\"):gsub('"', '\\"') .. '"'
end

function Image(image)
  if html then image.attributes["print-width"] = nil end
  return image
end

-- pandoc leaves the alternative text of a picture out of Typst.
function Figure(figure)
  if html then return nil end
  local image
  figure:walk({ Image = function(found) image = found end })
  local picture = "#figure(image(" .. quoted(image.src) .. ", width: " .. image.attributes["print-width"]
    .. ", alt: " .. quoted(pandoc.utils.stringify(image.caption)) .. "), caption: ["
  local parts = pandoc.List({ pandoc.RawBlock("typst", picture) })
  parts:insert(pandoc.Plain(figure.caption.long[1].content))
  parts:insert(pandoc.RawBlock("typst", "])"))
  return parts
end

-- UA-1 asks for an alternative text of every formula: its source in LaTeX, which is read aloud.
function Math(math)
  if html then return nil end
  local body = pandoc.write(pandoc.Pandoc({ pandoc.Plain({ math }) }), "typst"):gsub("%s+$", "")
  local block = is_display(math) and "true" or "false"
  return pandoc.RawInline("typst",
    '#math.equation(block: ' .. block .. ', alt: ' .. quoted(math.text) .. ', ' .. body .. ')')
end

function Div(block)
  local kind = block.classes[1]
  if html or not kinds[kind] then return nil end
  local parts = pandoc.List({ pandoc.RawBlock("typst", "#" .. kind .. "[") })
  parts:extend(block.content)
  parts:insert(pandoc.RawBlock("typst", "]"))
  return parts
end
